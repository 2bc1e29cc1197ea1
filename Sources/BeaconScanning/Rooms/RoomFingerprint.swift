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
