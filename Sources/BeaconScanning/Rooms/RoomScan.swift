import IndoorVocabulary

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
