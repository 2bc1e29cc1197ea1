import IndoorVocabulary

/// The tables that were used last, as many as fit into some bytes, for all sessions in a venue.
///
/// A table that no longer fits is made again when it is next asked for, and comes to the same bits: what a session reports
/// does not depend on what others asked for before.
final class TableCache: Sendable {
    private struct Entry: Sendable {
        /// Nil for a beacon that cannot be heard on the map, which is worth knowing, too.
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

        /// Keeps a table, and drops those that were not used for longest if there are too many.
        mutating func insert(_ table: SignalField.Table?, _ key: Int, capacity: Int) {
            guard entries[key] == nil else { return }
            uses += 1
            entries[key] = Entry(table: table, lastUse: uses)
            bytes += TableCache.size(of: table)
            guard bytes > capacity else { return }
            // So many at once that finding the oldest costs little for each.
            for (key, entry) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
                guard bytes > capacity / 4 * 3, entries.count > 1 else { break }
                bytes -= TableCache.size(of: entry.table)
                entries[key] = nil
            }
        }
    }

    /// Bytes that a venue's tables take at most: those of 5,000 beacons in an office, of 800 in halls where each is heard
    /// 70 m around.
    static let usualCapacity = 64 << 20
    /// Bytes of an entry beside its cells: the key, three arrays' headers.
    private static let overhead = 200

    private let state = Guarded(State())
    private let capacity: Int

    /// Creates a cache of tables with at most `capacity` bytes.
    init(capacity: Int = TableCache.usualCapacity) { self.capacity = capacity }

    /// Bytes that its tables take.
    var bytes: Int { state.withLock { $0.bytes } }

    /// The table with that key, made if it is not there.
    func table(_ key: Int, make: () -> SignalField.Table?) -> SignalField.Table? {
        if let known = state.withLock({ $0.find(key) }) { return known }
        // Not under the lock: other sessions go on. Two may make the same table, and the first one is kept.
        let table = make()
        state.withLock { $0.insert(table, key, capacity: capacity) }
        return table
    }

    private static func size(of table: SignalField.Table?) -> Int {
        guard let table else { return overhead }
        return overhead + 4 * (table.mean.count + table.variance.count + table.logRate.count)
    }
}
