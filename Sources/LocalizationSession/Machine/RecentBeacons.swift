import IndoorVocabulary

/// The latest reading of each recently received beacon, whether or not the beacon belongs to a known venue.
///
/// The table holds at most `limit` beacons, and reuses the memory of the oldest one for a new one. A reading of a
/// beacon that is in the table allocates no memory.
struct RecentBeacons: Sendable {
    /// The latest reading of a beacon.
    struct Entry: Hashable, Sendable {
        var beacon: BeaconIdentity
        /// The RSSI in dBm.
        var rssi: Double
        var instant: Instant
    }

    /// The greatest number of beacons.
    static let limit = 256
    /// The time after which a beacon without a reading is no longer recent.
    static let lifetime = Duration.seconds(30)

    private var entries: [Entry] = []
    /// The index of each beacon in `entries`.
    private var places: [BeaconIdentity: Int] = [:]

    /// Creates an empty table.
    init() {}

    /// Stores a reading, unless a later one of the same beacon is stored or the RSSI isn't a measurement.
    mutating func note(_ sighting: Sighting) {
        guard sighting.hasMeasurement else { return }
        if let place = places[sighting.beacon] {
            guard sighting.instant >= entries[place].instant else { return }
            entries[place].rssi = sighting.rssi
            entries[place].instant = sighting.instant
            return
        }
        let entry = Entry(beacon: sighting.beacon, rssi: sighting.rssi, instant: sighting.instant)
        guard entries.count == Self.limit else {
            places[entry.beacon] = entries.count
            return entries.append(entry)
        }
        var oldest = 0
        for index in 1..<entries.count where entries[index].instant < entries[oldest].instant { oldest = index }
        places[entries[oldest].beacon] = nil
        places[entry.beacon] = oldest
        entries[oldest] = entry
    }

    /// Returns the entries that aren't older than ``lifetime``, by beacon.
    func recent(at now: Instant) -> [Entry] {
        entries.filter { $0.instant.duration(to: now) <= Self.lifetime }.sorted { $0.beacon < $1.beacon }
    }

    /// Removes all beacons; keeps the memory.
    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }

    /// Moves all instants to a timeline with another origin.
    mutating func shift(by duration: Duration) {
        for index in entries.indices { entries[index].instant = entries[index].instant.advanced(by: duration) }
    }
}
