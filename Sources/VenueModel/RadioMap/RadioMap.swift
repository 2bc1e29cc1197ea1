import IndoorVocabulary

/// The result of a radio survey of a venue.
///
/// `RadioMapLearner` creates radio maps, and `SignalField` converts them to tables for positioning.
public struct RadioMap: Hashable, Sendable {
    /// A surveyed beacon.
    package struct Beacon: Hashable, Sendable {
        /// The identity of the beacon.
        package var identity: BeaconIdentity
        /// The map of the beacon, as known or learned.
        package var mapID: MapID
        /// The point on the map, as known or learned.
        package var point: MapPoint
        /// The height above the floor in metres; nil if unknown.
        package var z: Double?
        /// The signal strength at 1 m in dBm that best fits the survey.
        package var power: Double

        /// Creates a beacon from its parts.
        package init(identity: BeaconIdentity, mapID: MapID, point: MapPoint, z: Double? = nil, power: Double) {
            self.identity = identity
            self.mapID = mapID
            self.point = point
            self.z = z
            self.power = power
        }
    }

    /// The readings of one beacon at one place.
    package struct Reading: Hashable, Sendable {
        /// Index into the radio map's `beacons`.
        package var beacon: Int
        /// The mean RSSI in dBm, normalized to the mean receiver of the survey.
        package var rssi: Double
        /// The number of received advertisements, above 0.
        package var count: Int
        /// The weight of the reading in the Gaussian process of its beacon and map, in 1/dB.
        package var weight: Double

        /// Creates a reading.
        package init(beacon: Int, rssi: Double, count: Int, weight: Double = 0) {
            self.beacon = beacon
            self.rssi = rssi
            self.count = count
            self.weight = weight
        }
    }

    /// The readings at one place.
    public struct Fingerprint: Hashable, Sendable {
        /// The map of the place.
        public var mapID: MapID
        /// The point on the map.
        public var point: MapPoint
        /// The scanning time at the place in seconds, above 0.
        public var duration: Double
        /// The standard deviation of the place along each axis in metres, 0 or more: 0 for a place specified by the
        /// surveyor, above 0 for a place estimated from an unlabelled walk.
        package var deviation: Double
        /// One reading for each received beacon, ordered by beacon.
        package var readings: [Reading]

        /// Creates a fingerprint.
        package init(mapID: MapID, point: MapPoint, duration: Double, deviation: Double = 0, readings: [Reading]) {
            self.mapID = mapID
            self.point = point
            self.duration = duration
            self.deviation = deviation
            self.readings = readings
        }
    }

    /// Model parameters estimated from the survey; nil for parameters that the survey was too small to estimate.
    ///
    /// They replace the parameters of `SignalModel`, which are for venues without a survey.
    package struct Fit: Hashable, Sendable {
        /// The signal loss through one floor in dB, 0 or more: `positioning.signal.floorLoss`.
        package var floorLoss: Double?
        /// The distance in metres over which detection rates are averaged: `positioning.signal.rateLength`.
        package var rateLength: Double?
        /// The weight of the detection rates predicted by path loss relative to the survey's:
        /// `positioning.signal.ratePriorDetections`.
        package var ratePriorDetections: Double?
        /// The distance in metres around the survey places within which people are expected:
        /// `positioning.signal.supportWidth`.
        package var supportWidth: Double?
        /// The relative probability of a place far from the survey, in (0, 1]: `positioning.signal.unsupportedShare`.
        package var unsupportedShare: Double?
        /// The probability that a user is within the surveyed area, in [0, 1]. The smaller this value, the more the
        /// engine tolerates beacons that are received where the radio map excludes them, or missing where it predicts
        /// them, as it does without a survey.
        package var coverage: Double?
        /// The attenuation of beacons behind the surveyor by the surveyor's body, as a standard deviation along each
        /// axis in dB: `positioning.signal.bodyDeviation`.
        package var bodyDeviation: Double?
        /// The standard deviation in dB between the receivers of the survey. The receiver that is located is expected
        /// to deviate at least as much: `positioning.signal.receiverOffsetDeviation`.
        package var receiverDeviation: Double?
        /// The receiver parameters of each device model, relative to the mean receiver of the survey, by the name in
        /// `SurveyRecording.device`. A session on such a device begins with these parameters; see
        /// ``LocalizationSettings/device``.
        package var devices: [String: Receiver] = [:]

        /// Creates a fit without parameters.
        package init() {}
    }

    /// The receiver parameters of a device model, relative to the mean receiver of the survey.
    package struct Receiver: Hashable, Sendable {
        /// The RSSI offset in dB, in [-50, 50]; positive for a more sensitive receiver.
        package var offset: Double
        /// The standard deviation in dB of the offset between recordings of the same model, in [0, 50], caused, for
        /// example, by another unit or another pocket.
        package var deviation: Double

        /// Creates the parameters of a device model.
        package init(offset: Double, deviation: Double) {
            self.offset = offset
            self.deviation = deviation
        }
    }

    /// The surveyed beacons, ordered by identity.
    package var beacons: [Beacon]
    /// The surveyed places with their readings.
    public var fingerprints: [Fingerprint]
    /// The path-loss exponent, shared by all beacons.
    package var pathLossExponent: Double
    /// The standard deviation in dB, beyond fast fading, of a reading from the prediction by the rest of the survey;
    /// nil if the survey was too small to estimate it.
    package var readingDeviation: Double?
    /// The model parameters estimated from the survey.
    package var fit = Fit()

    /// Creates a radio map.
    package init(
        beacons: [Beacon], fingerprints: [Fingerprint], pathLossExponent: Double, readingDeviation: Double? = nil
    ) {
        self.beacons = beacons
        self.fingerprints = fingerprints
        self.pathLossExponent = pathLossExponent
        self.readingDeviation = readingDeviation
    }
}

/// A recording with known places, from which a radio map is learned.
public struct SurveyRecording: Sendable {
    /// A known place of the device.
    public struct Waypoint: Hashable, Sendable {
        /// The time at the place.
        public var instant: Instant
        /// The map of the place.
        public var mapID: MapID
        /// The point on the map.
        public var point: MapPoint
        /// Whether the device stands at the place until the next waypoint. Otherwise, it walks straight to the next
        /// waypoint.
        public var isHold: Bool
        /// The time from which the place is unknown, of a stay that ends before the next waypoint; nil for all others.
        package var leftAt: Instant?

        /// Creates a waypoint.
        public init(instant: Instant, mapID: MapID, point: MapPoint, isHold: Bool) {
            self.instant = instant
            self.mapID = mapID
            self.point = point
            self.isHold = isHold
        }

        /// Returns the place at an instant before the next waypoint: that of a stay, or the point on the way to the next
        /// waypoint; nil if it is unknown.
        package func place(at instant: Instant, before next: Waypoint?) -> (mapID: MapID, point: MapPoint)? {
            guard isHold else { return next.flatMap { place(toward: $0, at: instant.seconds) } }
            return leftAt.map { instant > $0 } == true ? nil : (mapID, point)
        }

        /// Returns the end of a stay: that of the recording without a next waypoint, and earlier if the place is unknown before.
        package func stayEnd(before next: Waypoint?, in recording: SurveyRecording) -> Instant {
            let end = next?.instant ?? recording.end
            return leftAt.map { min($0, end) } ?? end
        }

        /// Returns the interpolated place between this waypoint and the next one at a time in seconds; nil if the next
        /// waypoint is on another map.
        package func place(toward next: Waypoint, at seconds: Double) -> (mapID: MapID, point: MapPoint)? {
            guard mapID == next.mapID else { return nil }
            let share = (seconds - instant.seconds) / (next.instant.seconds - instant.seconds)
            return (mapID, point + (next.point - point) * share)
        }
    }

    /// The known places, ordered by instant.
    package var waypoints: [Waypoint]
    /// The received sightings, ordered by instant.
    package var sightings: [Sighting]
    /// The last instant of the recording.
    package var end: Instant
    /// The model of the receiver; nil if unknown. The recordings of a model determine the model's receiver offset; see
    /// `RadioMap.Fit.devices`.
    package var device: String?

    /// Creates a survey recording. By default, its end is the last instant of a waypoint or sighting.
    package init(waypoints: [Waypoint], sightings: [Sighting], end: Instant? = nil, device: String? = nil) {
        self.waypoints = waypoints
        self.sightings = sightings
        self.device = device
        self.end = end ?? max(waypoints.last?.instant ?? .zero, sightings.last?.instant ?? .zero)
    }
}

extension [SurveyRecording.Waypoint] {
    /// Returns the true place at a time in seconds, of waypoints ordered by instant: that of a stay, or the point on the
    /// straight line between two waypoints of one map.
    ///
    /// Nil before the first waypoint, after the last one unless the device stays there, after a stay whose place was left, and
    /// between two maps.
    package func place(at seconds: Double) -> (mapID: MapID, point: MapPoint)? {
        let instant = Instant(seconds: seconds)
        let next = indices.bisection { self[$0].instant > instant }
        guard next > 0 else { return nil }
        let before = self[next - 1]
        if before.instant == instant { return (before.mapID, before.point) }
        return before.place(at: instant, before: next < count ? self[next] : nil)
    }
}
