import IndoorVocabulary

/// What a survey learned of a venue's radio.
///
/// Made by `RadioMapLearner`; a `SignalField` turns it into tables for positioning.
public struct RadioMap: Hashable, Sendable {
    /// One transmitter as the survey heard it.
    public struct Beacon: Hashable, Sendable {
        /// Which transmitter.
        public var identity: BeaconIdentity
        /// The map that it stands on, as known or as learned.
        public var mapID: MapID
        /// Where on that map, as known or as learned.
        public var point: MapPoint
        /// Metres above that floor; nil if unknown.
        public var z: Double?
        /// Signal strength at 1 m in dBm that fits the survey best.
        public var power: Double

        /// Creates a beacon from what was learned of it.
        public init(identity: BeaconIdentity, mapID: MapID, point: MapPoint, z: Double? = nil, power: Double) {
            self.identity = identity
            self.mapID = mapID
            self.point = point
            self.z = z
            self.power = power
        }
    }

    /// What was heard of one beacon at one place.
    public struct Reading: Hashable, Sendable {
        /// Index into the radio map's `beacons`.
        public var beacon: Int
        /// Mean RSSI in dBm, as the mean of the survey's receivers would have heard it.
        public var rssi: Double
        /// How many advertisements were heard, above 0.
        public var count: Int
        /// Weight of this reading in the Gaussian process of its beacon and map (1/dB).
        public var weight: Double

        /// Creates a reading.
        public init(beacon: Int, rssi: Double, count: Int, weight: Double = 0) {
            self.beacon = beacon
            self.rssi = rssi
            self.count = count
            self.weight = weight
        }
    }

    /// What was heard at one place.
    public struct Fingerprint: Hashable, Sendable {
        /// The map that the place lies on.
        public var mapID: MapID
        /// Where on that map.
        public var point: MapPoint
        /// How long the surveyor listened, in seconds, above 0.
        public var duration: Double
        /// Standard deviation of the place along each axis in metres, 0 or more: 0 where the surveyor told it, and more where
        /// it was found from an unlabelled walk.
        public var deviation: Double
        /// One reading for each beacon that was heard, ordered by beacon.
        public var readings: [Reading]

        /// Creates a fingerprint.
        public init(mapID: MapID, point: MapPoint, duration: Double, deviation: Double = 0, readings: [Reading]) {
            self.mapID = mapID
            self.point = point
            self.duration = duration
            self.deviation = deviation
            self.readings = readings
        }
    }

    /// Numbers of the model that the survey tells; nil where it was too small to tell, or not asked.
    ///
    /// They take the place of those of `SignalModel`, which are for venues without a survey.
    public struct Fit: Hashable, Sendable {
        /// Signal lost through one floor, in dB, 0 or more: ``SignalModel/floorLoss``.
        public var floorLoss: Double?
        /// Metres over which detection rates are averaged: ``SignalModel/rateLength``.
        public var rateLength: Double?
        /// How much the rates that path loss expects weigh against the survey's: ``SignalModel/ratePriorDetections``.
        public var ratePriorDetections: Double?
        /// Metres around the survey's places within which people are expected: ``SignalModel/supportWidth``.
        public var supportWidth: Double?
        /// How likely a place far from the survey is, in (0, 1]: ``SignalModel/unsupportedShare``.
        public var unsupportedShare: Double?
        /// How probable it is that somebody is where the survey knows the radio, in [0, 1]. The less, the more the engine
        /// expects what it does without a survey: that beacons are heard where they should not be, and silent where they
        /// should be heard.
        public var coverage: Double?
        /// How much the surveyors' bodies took from the beacons behind them, along each axis, as a standard deviation in dB:
        /// ``SignalModel/bodyDeviation``.
        public var bodyDeviation: Double?
        /// How much the receivers of the survey's walks differed from each other, as a standard deviation in dB. No less
        /// is expected of the one that is located: ``SignalModel/receiverOffsetDeviation``.
        public var receiverDeviation: Double?
        /// How much stronger each model of device hears than the mean of the survey's receivers, by the name that the
        /// recordings give in ``SurveyRecording/device``: what a session of such a device begins with, see
        /// ``LocalizationSettings/device``.
        public var devices: [String: Receiver] = [:]

        /// Creates a fit that tells nothing.
        public init() {}
    }

    /// How a model of device hears, against the mean of the survey's receivers.
    public struct Receiver: Hashable, Sendable {
        /// Decibels by which it hears stronger, in [-50, 50].
        public var offset: Double
        /// Standard deviation of the offset in another recording of such a device, in dB, in [0, 50]: another pocket,
        /// another unit of the same model.
        public var deviation: Double

        /// Creates what is known of a model of device.
        public init(offset: Double, deviation: Double) {
            self.offset = offset
            self.deviation = deviation
        }
    }

    /// The transmitters that the survey heard, ordered by identity.
    public var beacons: [Beacon]
    /// Where the surveyor was and what was heard there.
    public var fingerprints: [Fingerprint]
    /// How fast the signal falls with distance, shared by all beacons.
    public var pathLossExponent: Double
    /// How far a reading lies from what the rest of the survey predicts there, as a standard deviation in dB beyond
    /// fast fading; nil if the survey was too small to tell.
    public var readingDeviation: Double?
    /// What else the survey tells of the model's numbers.
    public var fit = Fit()

    /// Creates a radio map.
    public init(
        beacons: [Beacon], fingerprints: [Fingerprint], pathLossExponent: Double, readingDeviation: Double? = nil
    ) {
        self.beacons = beacons
        self.fingerprints = fingerprints
        self.pathLossExponent = pathLossExponent
        self.readingDeviation = readingDeviation
    }
}
