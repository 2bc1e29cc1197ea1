import IndoorVocabulary

/// The samples recorded in one room during its training.
public struct RoomFingerprint: Hashable, Sendable {
    /// The place where a person carries the device while it records.
    public enum Placement: String, Hashable, Sendable, CaseIterable {
        /// In a hand, or lying uncovered.
        case hand
        /// In a pocket or a bag, so that cloth or a body attenuates the signal.
        case pocket
    }

    /// A sample: the beacons received at one moment of the training, about one per second.
    public struct Sample: Hashable, Sendable {
        /// Seconds since 1970, UTC, with a fraction.
        public var timestamp: Double
        /// The signal strength of each beacon in dBm, from -127 to below -1.
        public fileprivate(set) var rssi: [BeaconIdentity: Double]
        /// The place where the device was carried.
        public var placement: Placement

        /// Creates a sample; values that are not a measurement, and values of -1 dBm or more, are left out.
        public init(timestamp: Double, rssi: [BeaconIdentity: Double], placement: Placement = .hand) {
            self.timestamp = timestamp
            self.placement = placement
            self.rssi = rssi.filter { RoomScan.isUsable(rssi: $0.value) }
        }
    }

    /// The samples, in the order in which they were taken.
    public var samples: [Sample]

    /// Creates a fingerprint.
    public init(samples: [Sample] = []) { self.samples = samples }

    /// The beacons that were received at least once.
    public var beacons: Set<BeaconIdentity> {
        samples.reduce(into: []) { beacons, sample in beacons.formUnion(sample.rssi.keys) }
    }

    /// Returns the samples that were recorded with the device in a placement.
    public func samples(in placement: Placement) -> [Sample] { samples.filter { $0.placement == placement } }

    /// Adds the samples of another training of the room.
    public mutating func add(_ other: RoomFingerprint) { samples += other.samples }

    /// Removes a beacon that was moved or removed from the building; the samples remain, without the beacon.
    package mutating func forget(_ beacon: BeaconIdentity) {
        for index in samples.indices { samples[index].rssi[beacon] = nil }
    }

    /// Returns the share of the given beacons, such as those of the region, that were received in the training; in [0,
    /// 1].
    ///
    /// For no beacons, the share is 1.
    package func coverage(of expected: Set<BeaconIdentity>) -> Double {
        expected.isEmpty ? 1 : Double(expected.intersection(beacons).count) / Double(expected.count)
    }

    /// The same fingerprint, with the pocket samples converted to samples of a device in a hand.
    ///
    /// A pocket attenuates all beacons by about the same number of decibels. The loss is estimated from the stronger
    /// half of the beacons that were received in both placements. Faint beacons are not used, because only their
    /// strongest readings are received in a pocket. With fewer than three such beacons, the fingerprint is returned
    /// unchanged.
    package var inHand: RoomFingerprint {
        let (hand, pocket) = (Self.means(of: samples(in: .hand)), Self.means(of: samples(in: .pocket)))
        let both = hand.compactMap { beacon, mean in pocket[beacon].map { (beacon: beacon, hand: mean, pocket: $0) } }
            .sorted { ($1.hand, $0.beacon) < ($0.hand, $1.beacon) }
        guard both.count >= 3 else { return self }
        let differences = both.prefix(max(3, both.count / 2)).map { $0.pocket - $0.hand }.sorted()
        let loss = differences[differences.count / 2]
        var fitted = self
        for index in fitted.samples.indices where fitted.samples[index].placement == .pocket {
            fitted.samples[index].rssi = fitted.samples[index].rssi.mapValues { $0 - loss }
        }
        return fitted
    }

    private static func means(of samples: [Sample]) -> [BeaconIdentity: Double] {
        var sums: [BeaconIdentity: (sum: Double, count: Double)] = [:]
        for sample in samples {
            for (beacon, rssi) in sample.rssi {
                let known = sums[beacon] ?? (0, 0)
                sums[beacon] = (known.sum + rssi, known.count + 1)
            }
        }
        return sums.mapValues { $0.sum / $0.count }
    }
}

/// The beacons received within about a second: the input of a classifier.
public struct RoomScan: Hashable, Sendable {
    /// The time at which the scan was complete.
    public var instant: Instant
    /// The signal strength of each beacon in dBm, from -127 to below -1.
    public private(set) var rssi: [BeaconIdentity: Double]

    /// Creates a scan; values that are not a measurement, and values of -1 dBm or more, are left out.
    public init(instant: Instant, rssi: [BeaconIdentity: Double]) {
        self.instant = instant
        self.rssi = rssi.filter { Self.isUsable(rssi: $0.value) }
    }

    /// Creates a scan from the ranging of a region.
    public init(_ ranging: RegionRanging) {
        self.init(
            instant: ranging.instant,
            rssi: Dictionary(ranging.ranges.map { ($0.beacon, $0.rssi) }, uniquingKeysWith: { $1 }))
    }

    /// Returns whether training and classification use an RSSI: a measurement below -1 dBm, as in Crownstone's format.
    static func isUsable(rssi: Double) -> Bool { Sighting.isMeasurement(rssi: rssi) && rssi < -1 }

    /// Divides sightings, ordered by instant, into scans.
    ///
    /// Some receivers deliver batches whose sightings all have the same instant. If most sightings have the same
    /// instant as the previous one, each batch is a scan. Otherwise, a scan contains the sightings within `interval` of
    /// its first one. A beacon with several sightings in a scan has their mean RSSI. A batch contains each beacon once,
    /// so the second sighting of a beacon begins the next scan.
    public static func scans(of sightings: [Sighting], interval: Duration = .seconds(1)) -> [RoomScan] {
        let shared = zip(sightings, sightings.dropFirst()).count { $0.instant == $1.instant }
        let isBatched = shared * 2 >= sightings.count && shared > 0
        var scans: [RoomScan] = []
        var sums: [BeaconIdentity: (sum: Double, count: Int)] = [:]
        var (first, last) = (Instant.zero, Instant.zero)
        func finish() {
            guard !sums.isEmpty else { return }
            scans.append(RoomScan(instant: last, rssi: sums.mapValues { $0.sum / Double($0.count) }))
            sums = [:]
        }
        for sighting in sightings where isUsable(rssi: sighting.rssi) {
            let isNext =
                isBatched
                ? sighting.instant != first || sums[sighting.beacon] != nil
                : first.duration(to: sighting.instant) >= interval
            if isNext { finish() }
            if sums.isEmpty { first = sighting.instant }
            last = sighting.instant
            let known = sums[sighting.beacon] ?? (0, 0)
            sums[sighting.beacon] = (known.sum + sighting.rssi, known.count + 1)
        }
        finish()
        return scans
    }
}

extension BeaconIdentity {
    /// The beacon's name in training data: `UUID_Maj:1_Min:2`.
    package var trainingID: String { "\(uuid)_Maj:\(major)_Min:\(minor)" }

    /// Creates an identity from a name of training data, including the format used before April 2018:
    /// `UUID.Maj:1.Min:2`.
    package init?(trainingID: String) {
        guard let separator = trainingID.dropFirst(36).first, separator == "_" || separator == "." else { return nil }
        let parts = trainingID.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].hasPrefix("Maj:"), parts[2].hasPrefix("Min:"),
            let uuid = BeaconUUID(String(parts[0])), let major = UInt16(parts[1].dropFirst(4)),
            let minor = UInt16(parts[2].dropFirst(4))
        else { return nil }
        self.init(uuid: uuid, major: major, minor: minor)
    }
}

/// The fingerprints of a region's rooms: the training data of a classifier.
public struct RoomTrainingSet: Hashable, Sendable {
    /// The fingerprint of each room, by the room's name.
    public var rooms: [String: RoomFingerprint]

    /// Creates a set.
    public init(rooms: [String: RoomFingerprint] = [:]) { self.rooms = rooms }

    /// The beacons that were received in any room.
    public var beacons: Set<BeaconIdentity> {
        rooms.values.reduce(into: []) { beacons, fingerprint in beacons.formUnion(fingerprint.beacons) }
    }

    /// Adds a fingerprint to the fingerprint of a room.
    public mutating func add(_ fingerprint: RoomFingerprint, to room: String) {
        rooms[room, default: RoomFingerprint()].add(fingerprint)
    }

    /// Adds the fingerprints of another set.
    public mutating func add(_ other: RoomTrainingSet) {
        for (room, fingerprint) in other.rooms { add(fingerprint, to: room) }
    }

    /// Removes a beacon that was moved or removed from the building, in all rooms.
    public mutating func forget(_ beacon: BeaconIdentity) {
        for room in rooms.keys { rooms[room]?.forget(beacon) }
    }
}

/// The quality of a room's fingerprint.
public struct FingerprintQuality: Hashable, Sendable {
    /// The circumstances of a recording that the samples of a fingerprint don't contain.
    public struct Circumstances: Hashable, Sendable {
        /// The region's current beacons; nil to treat none as missing.
        public var presentBeacons: Set<BeaconIdentity>?
        /// Whether the kind of device that recorded the samples is known.
        public var isReceiverKnown = true
        /// Whether this device recorded the samples, or the samples were converted for it.
        public var isReceiverMatched = true
        /// Whether there are pocket samples in addition to those of the fingerprint.
        public var hasPocketSamples = false

        /// Creates the circumstances of samples that this device recorded in a hand.
        public init() {}
    }

    /// A reason for a deduction from the score.
    package enum Deduction: String, Hashable, Sendable, CaseIterable {
        /// The kind of device that recorded the samples is unknown.
        case receiver
        /// The training has not received all current beacons: one point for each percent of them that is missing.
        case beacons
        /// Another device recorded the samples, and they were not converted for this device.
        case match
        /// There are no samples from a pocket.
        case pocket
        /// There are fewer than 150 samples in hand.
        case samples
    }

    /// A reason, derived from measurements, why a classifier can't recognize a room reliably.
    public enum Shortcoming: String, Hashable, Sendable, CaseIterable {
        /// There are fewer than 30 samples: train the room longer.
        case samples
        /// More than a fifth of the samples have fewer than 3 beacons: place beacons
        /// nearer, because a classifier gives no answer for a scan with so few beacons.
        case beacons
    }

    /// The score from 0 to 100, as in Crownstone's app.
    public let score: Double
    /// The deductions from the score, in points; deductions of 0 are left out.
    package let deductions: [Deduction: Double]
    /// The reasons why a classifier can't recognize the room reliably; empty if there are none.
    public let shortcomings: [Shortcoming]
    /// The share of the current beacons that were received in the training; in [0, 1].
    package let coverage: Double
    /// The share of the samples with enough beacons for an answer; in [0, 1].
    package let answerableShare: Double
    /// Whether Crownstone's app rates the fingerprint as bad: a score below 60.
    ///
    /// A score of 60 takes almost two minutes of samples in a hand, and all beacons of the house received in each room.
    /// Classifiers recognize rooms well with fewer samples; see ``isSufficient``.
    package var isBad: Bool { score < 60 }
    /// Whether the training is sufficient to recognize the room: it has no shortcomings.
    public var isSufficient: Bool { shortcomings.isEmpty }

    /// The sufficient number of samples: half a minute of recording.
    ///
    /// Measured with 13 rooms of a house and three phones (crownstone/localization-improvement). The adaptive
    /// classifier classifies 70 to 77 % of the scans correctly with 10 samples per room, 75 and 82 % with 15, 79 and 84
    /// % with 20, 84 and 85 % with 30, 89 and 91 % with 60, and 89 and 91 % with 90; the two figures, the lower one
    /// first, are for samples from another phone and from the same phone.
    package static let neededSamples = 30
    /// The minimum number of beacons in a scan for an answer of the classifiers.
    package static let neededBeacons = 3

    /// Rates a fingerprint in the same way as Crownstone's app (crownstone-app, fingerprint score, 2021), and
    /// determines its shortcomings.
    ///
    /// From 100 points, the score loses 50 if the device is unknown, one for each percent of the current beacons that
    /// is missing, 20 if another device recorded the samples, 20 without samples from a pocket, and up to 80 for fewer
    /// than 150 samples in a hand.
    public init(of fingerprint: RoomFingerprint, in circumstances: Circumstances = Circumstances()) {
        let samples = fingerprint.samples
        let inHand = fingerprint.samples(in: .hand).count
        let hasPocket = circumstances.hasPocketSamples || inHand < samples.count
        coverage = fingerprint.coverage(of: circumstances.presentBeacons ?? [])
        let points: [Deduction: Double] = [
            .receiver: circumstances.isReceiverKnown ? 0 : 50, .beacons: 100 * (1 - coverage),
            .match: circumstances.isReceiverMatched ? 0 : 20, .pocket: hasPocket ? 0 : 20,
            .samples: 80 * (1 - min(1, Double(inHand) / Self.fullSamples)),
        ]
        deductions = points.filter { $0.value > 0 }
        // Add in a fixed order, so that the rounded sum is always the same.
        score = max(0, Deduction.allCases.reduce(100) { $0 - (points[$1] ?? 0) })
        let answerable = samples.count { $0.rssi.count >= Self.neededBeacons }
        answerableShare = samples.isEmpty ? 0 : Double(answerable) / Double(samples.count)
        shortcomings =
            (samples.count < Self.neededSamples ? [.samples] : [])
            + (answerableShare < Self.neededShare ? [.beacons] : [])
    }

    /// The number of samples in a hand without a deduction.
    private static let fullSamples = 150.0
    /// The minimum share of the samples that have enough beacons.
    private static let neededShare = 0.8
}
