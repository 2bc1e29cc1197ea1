import IndoorVocabulary

/// The beacons that were heard within about a second: what a classifier tells a room from.
public struct RoomScan: Hashable, Sendable {
    /// When the scan was complete.
    public var instant: Instant
    /// The signal strength of each beacon in dBm, from -127 to below -1.
    public private(set) var rssi: [BeaconIdentity: Double]

    /// Creates a scan; values that are no measurement, and those of -1 dBm and above, are left out.
    public init(instant: Instant, rssi: [BeaconIdentity: Double]) {
        self.instant = instant
        self.rssi = rssi.filter { Self.isUsable(rssi: $0.value) }
    }

    /// Creates a scan of what a region's beacons were ranged with.
    public init(_ ranging: RegionRanging) {
        self.init(
            instant: ranging.instant,
            rssi: Dictionary(ranging.ranges.map { ($0.beacon, $0.rssi) }, uniquingKeysWith: { $1 }))
    }

    /// Whether training and classifying use an RSSI: a measurement below -1 dBm, as in Crownstone's format.
    static func isUsable(rssi: Double) -> Bool { Sighting.isMeasurement(rssi: rssi) && rssi < -1 }

    /// Cuts what was heard, ordered by instant, into scans.
    ///
    /// A receiver that hands on batches, all sightings of a batch with one instant, has cut already: if most sightings
    /// share their instant with the one before, each batch is a scan. Otherwise a scan takes in what was heard within
    /// `interval` of its first sighting. A beacon heard several times in a scan counts with its mean RSSI, but in a
    /// batch, which tells each beacon once, its second sighting begins the next one.
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
