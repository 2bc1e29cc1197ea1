import IndoorVocabulary

/// The records of the tags of a machine, with a bound on their number.
///
/// A tag that left keeps its record for some minutes. Beyond that time, or if the table is full, the table discards the
/// record of the tag that left first.
struct TagTable: Sendable {
    /// The time in nanoseconds for which the table keeps the record of a tag that left.
    static let retention: Int64 = 600_000_000_000

    private struct Departure: Sendable {
        var slot: Int
        var hash: UInt64
        var nanoseconds: Int64
    }

    /// The records by slot; nil in free slots.
    private(set) var slots: [TagKey: Int] = [:]
    var records: [TagRecord?] = []
    private var free: [Int] = []
    /// The tags that left, in the order of time, from `firstDeparture`; entries of tags that returned are invalid.
    private var departures: [Departure] = []
    private var firstDeparture = 0
    private var registeredCount = 0
    /// The greatest output number of the discarded tags. A new tag continues from it, so that the numbers of a tag that
    /// returns after its record was discarded still increase.
    var discardedSequence: UInt64 = 0

    /// The number of records.
    var count: Int { slots.count }

    /// Returns the slot of a tag, and creates its record if needed; nil if the table is full.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of records.
    ///   - registered: the number of known tags, for which the table reserves room, so that unknown tags can't displace
    ///     them.
    mutating func slot(of key: TagKey, isRegistered: Bool, limit: Int, registered: Int) -> Int? {
        if let slot = slots[key] { return slot }
        while isFull(for: isRegistered, limit: limit, registered: registered) {
            guard discardOldest() else { return nil }
        }
        let record = TagRecord(
            key: key, hash: key.mixedHash, isRegistered: isRegistered, sequence: discardedSequence)
        if isRegistered { registeredCount += 1 }
        if let slot = free.popLast() {
            records[slot] = record
            slots[key] = slot
            return slot
        }
        records.append(record)
        slots[key] = records.count - 1
        return records.count - 1
    }

    private func isFull(for isRegistered: Bool, limit: Int, registered: Int) -> Bool {
        if slots.count >= limit { return true }
        return !isRegistered && slots.count - registeredCount >= max(0, limit - registered)
    }

    /// Marks the time at which a tag left.
    mutating func depart(_ slot: Int, at nanoseconds: Int64) {
        guard let hash = records[slot]?.hash else { return }
        records[slot]?.awaySince = nanoseconds
        departures.append(Departure(slot: slot, hash: hash, nanoseconds: nanoseconds))
    }

    /// Discards the records of the tags that left before an instant.
    mutating func discard(before nanoseconds: Int64) {
        while firstDeparture < departures.count, departures[firstDeparture].nanoseconds < nanoseconds {
            discardFirst()
        }
    }

    /// Removes the record of a tag of which no reading waits in the queue.
    mutating func remove(_ slot: Int) {
        guard let record = records[slot] else { return }
        discardedSequence = max(discardedSequence, record.sequence)
        if record.isRegistered { registeredCount -= 1 }
        slots[record.key] = nil
        records[slot] = nil
        free.append(slot)
    }

    /// Discards the record of the tag that left first; returns whether there was one.
    private mutating func discardOldest() -> Bool {
        while firstDeparture < departures.count { if discardFirst() { return true } }
        return false
    }

    @discardableResult
    private mutating func discardFirst() -> Bool {
        let departure = departures[firstDeparture]
        firstDeparture += 1
        if firstDeparture > 1024, firstDeparture * 2 > departures.count {
            departures.removeFirst(firstDeparture)
            firstDeparture = 0
        }
        guard let record = records[departure.slot], record.hash == departure.hash,
            record.awaySince == departure.nanoseconds, record.pending == 0
        else { return false }
        remove(departure.slot)
        return true
    }
}
