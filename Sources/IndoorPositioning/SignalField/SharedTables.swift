import IndoorVocabulary
import VenueModel

/// A store of positioning tables that several sessions share.
///
/// A session builds only the tables that it needs: those of the possible floors and the detected beacons. Sessions that
/// share a store build and hold each table once. Sharing doesn't affect positions.
public final class SharedTables: Sendable {
    private struct Entry: Sendable {
        var venue: Venue
        var model: SignalModel
        var cellScale: Double
        var field: SignalField
    }

    /// The tables by venue; the most recently requested venue is the last element.
    private let entries = Guarded<[Entry]>([])
    private let capacity: Int

    /// Creates an empty store.
    ///
    /// - Parameter venueCount: the number of venues whose tables the store holds, at least 1. Beyond that number, the
    ///   store discards the least recently requested venue. A venue can occupy about 70 MB.
    public init(venueCount: Int = 4) { capacity = max(1, venueCount) }

    /// Returns the tables of a venue with these settings; calls with equal values return the same tables.
    ///
    /// - Parameter cellScale: the factor on the edge of the cells, at least 1.
    package func field(of venue: Venue, model: SignalModel, cellScale: Double = 1) -> SignalField {
        entries.withLock { entries in
            let known = entries.firstIndex {
                $0.venue.id == venue.id && $0.model == model && $0.cellScale == cellScale && $0.venue == venue
            }
            let entry =
                known.map { entries.remove(at: $0) }
                ?? Entry(
                    venue: venue, model: model, cellScale: cellScale,
                    field: SignalField(venue: venue, model: model, cellScale: cellScale))
            if entries.count >= capacity { entries.removeFirst() }
            entries.append(entry)
            return entry.field
        }
    }
}

/// A cache of the most recently used tables, limited in bytes, that all sessions in a venue share.
///
/// An evicted table is rebuilt on the next request with identical bits. The output of a session therefore doesn't
/// depend on the requests of other sessions.
final class TableCache: Sendable {
    private struct Entry: Sendable {
        /// Nil for a beacon that cannot be detected on the map; the cache stores this result too.
        var table: SignalField.Table?
        var lastUse: UInt64
    }

    private struct State: Sendable {
        var entries: [Int: Entry] = [:]
        var bytes = 0
        var uses: UInt64 = 0

        mutating func find(_ key: Int) -> SignalField.Table?? {
            guard let index = entries.index(forKey: key) else { return nil }
            uses += 1
            entries.values[index].lastUse = uses
            return entries.values[index].table
        }

        /// Stores a table, and evicts the least recently used tables if the capacity is exceeded.
        mutating func insert(_ table: SignalField.Table?, _ key: Int, capacity: Int) {
            guard entries[key] == nil else { return }
            uses += 1
            entries[key] = Entry(table: table, lastUse: uses)
            bytes += TableCache.size(of: table)
            guard bytes > capacity else { return }
            // Evict many tables at once, so that sorting is rare.
            for (key, entry) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
                guard bytes > capacity / 4 * 3, entries.count > 1 else { break }
                bytes -= TableCache.size(of: entry.table)
                entries[key] = nil
            }
        }
    }

    /// The default limit in bytes for a venue's tables: enough for 5,000 beacons in an office, or for 800 beacons in
    /// halls where each is detected within 70 m.
    static let usualCapacity = 64 << 20
    /// The size of an entry in bytes without its cells: the key and the headers of three arrays.
    private static let overhead = 200

    private let state = Guarded(State())
    private let capacity: Int

    /// Creates a cache that holds at most `capacity` bytes of tables.
    init(capacity: Int = TableCache.usualCapacity) { self.capacity = capacity }

    /// The bytes that the stored tables occupy.
    var bytes: Int { state.withLock { $0.bytes } }

    /// Returns the table with the key, and builds it if it is missing.
    func table(_ key: Int, make: () -> SignalField.Table?) -> SignalField.Table? {
        if let known = state.withLock({ $0.find(key) }) { return known }
        // Build the table outside the lock, so that other sessions don't wait. If two sessions build the same table,
        // the cache keeps the first one.
        let table = make()
        state.withLock { $0.insert(table, key, capacity: capacity) }
        return table
    }

    private static func size(of table: SignalField.Table?) -> Int {
        guard let table else { return overhead }
        return overhead + 4 * (table.mean.count + table.variance.count + table.logRate.count)
    }
}
