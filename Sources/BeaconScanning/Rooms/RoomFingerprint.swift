import IndoorVocabulary

/// What was heard in one room while it was trained.
public struct RoomFingerprint: Hashable, Sendable {
    /// Where the device is carried while it hears.
    public enum Placement: String, Hashable, Sendable, CaseIterable {
        /// In a hand, or lying open.
        case hand
        /// In a pocket or a bag: a body or a cloth lies between.
        case pocket
    }

    /// What was heard at one moment of the training, about one a second.
    public struct Sample: Hashable, Sendable {
        /// Seconds since 1970, UTC, with a fraction.
        public var timestamp: Double
        /// The signal strength of each beacon in dBm, from -127 to below -1.
        public fileprivate(set) var rssi: [BeaconIdentity: Double]
        /// Where the device was carried.
        public var placement: Placement

        /// Creates a sample; values that are no measurement, and those of -1 dBm and above, are left out.
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

    /// The beacons that were heard at least once.
    public var beacons: Set<BeaconIdentity> {
        samples.reduce(into: []) { beacons, sample in beacons.formUnion(sample.rssi.keys) }
    }

    /// The samples that were taken with the device carried there.
    public func samples(in placement: Placement) -> [Sample] { samples.filter { $0.placement == placement } }

    /// Adds what was trained at another time.
    public mutating func add(_ other: RoomFingerprint) { samples += other.samples }

    /// Forgets a beacon that was moved or taken away; the samples stay, without it.
    public mutating func forget(_ beacon: BeaconIdentity) {
        for index in samples.indices { samples[index].rssi[beacon] = nil }
    }

    /// The share of some beacons, such as those of the region, that were heard in the training; in [0, 1].
    ///
    /// Of no beacons, all were heard.
    public func coverage(of expected: Set<BeaconIdentity>) -> Double {
        expected.isEmpty ? 1 : Double(expected.intersection(beacons).count) / Double(expected.count)
    }

    /// The same with the samples from a pocket as a device in hand would have taken them.
    ///
    /// A pocket takes about as many decibels from each beacon. How many is told by the beacons that were heard in both
    /// placements, by the stronger half of them: of the faint ones, a pocket lets only the strongest readings through.
    /// Without three such beacons, all stays as it is.
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
