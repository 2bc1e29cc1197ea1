/// What was heard in one room while it was trained.
public struct RoomFingerprint: Hashable, Sendable {
    /// What was heard at one moment of the training, about one a second.
    public struct Sample: Hashable, Sendable {
        /// Seconds since 1970, UTC, with a fraction.
        public var timestamp: Double
        /// The signal strength of each beacon in dBm, from -127 to below -1.
        public fileprivate(set) var rssi: [BeaconIdentity: Double]

        /// Creates a sample; values that are no measurement, and those of -1 dBm and above, are left out.
        public init(timestamp: Double, rssi: [BeaconIdentity: Double]) {
            self.timestamp = timestamp
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
}
