import IndoorVocabulary

/// The memory of the sessions of tags outside of the register.
struct UnknownTagMemory: Sendable {
    /// The bytes of the session of each of these tags by its slot, the least recently heard tag first.
    private var sessions = RecencyTable<Int, Int>(limit: .max)
    /// The bytes of all these sessions.
    private(set) var bytes = 0

    var count: Int { sessions.count }
    /// The slot of the least recently heard tag; nil if there is none.
    var first: Int? { sessions.first }

    /// Records that a tag was heard.
    mutating func hear(_ slot: Int) { sessions.use(slot, else: 0) { _ in } }

    /// Sets the size of a session.
    mutating func set(_ size: Int, of slot: Int) {
        guard let before = sessions.peek(slot) else { return }
        sessions.change(slot) { $0 = size }
        bytes += size - before
    }

    /// Removes a session, which has ended.
    mutating func remove(_ slot: Int) { bytes -= sessions.remove(slot) ?? 0 }
}

extension FleetMachine {
    /// The memory in bytes that the sessions of tags outside of the register have together.
    package var unknownTagBytes: Int { unknown.bytes }

    /// Records the size of a session, and ends the sessions of the least recently heard tags beyond the budget.
    mutating func account(for slot: Int, at nanoseconds: Int64) {
        guard let key = table.records[slot]?.key, register.entries[key] == nil,
            let size = table.records[slot]?.session?.byteCount
        else { return unknown.remove(slot) }
        unknown.set(size, of: slot)
        // The last one stays, however small the budget is.
        while unknown.bytes > unknownTagMemory, unknown.count > 1, let oldest = unknown.first {
            unknown.remove(oldest)
            guard let key = table.records[oldest]?.key, register.entries[key] == nil else { continue }
            statistics.evictedTags += 1
            depart(oldest, at: nanoseconds)
        }
        statistics.unknownTagBytes = unknown.bytes
    }

    /// Restores the order of the tags of a snapshot.
    mutating func restoreBudget() {
        let slots = table.records.indices.filter { slot in
            table.records[slot].map { $0.session != nil && register.entries[$0.key] == nil } ?? false
        }
        func order(_ slot: Int) -> (Int64, UInt64) {
            (table.records[slot]?.latest ?? .min, table.records[slot]?.hash ?? 0)
        }
        for slot in slots.sorted(by: { order($0) < order($1) }) {
            unknown.hear(slot)
            unknown.set(table.records[slot]?.session?.byteCount ?? 0, of: slot)
        }
        statistics.unknownTagBytes = unknown.bytes
    }
}
