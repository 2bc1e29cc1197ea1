import IndoorVocabulary
import VenueModel

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

/// The state of one tag in a machine.
struct TagRecord: Sendable {
    /// A receiver that received the tag recently.
    struct Heard: Sendable {
        /// The index of the receiver.
        var receiver: Int32
        /// The number of readings since the latest position, and the sum of their RSSIs in dBm.
        var count: Int32 = 0
        var sum: Float = 0
        /// The time of the latest reading in nanoseconds since 1970-01-01 UTC.
        var latest: Int64
    }

    /// The place of the tag when the machine last compared its RSSIs with the expected ones.
    struct Sample: Sendable {
        var nanoseconds: Int64
        var mapID: MapID
        var point: MapPoint
    }

    let key: TagKey
    /// ``TagKey/mixedHash`` of the key.
    let hash: UInt64
    /// Whether the register contains the tag.
    let isRegistered: Bool
    /// Nil while the tag is away.
    var session: TagSession?
    /// The index of the tag's class; the interval and the timeout of the class in nanoseconds.
    var tagClass = 0
    var interval: Int64 = 0
    var timeout: Int64 = 0
    /// The number of the latest output.
    var sequence: UInt64
    /// The number of readings that the tag's sessions used so far.
    var readings: UInt64 = 0
    /// The number of readings that wait for their turn.
    var pending = 0
    /// The time of the latest reading.
    var latest: Int64 = .min
    /// The time of the oldest reading since the latest position; nil without any.
    var oldestNew: Int64?
    /// The time of the next position.
    var nextPosition: Int64 = .max
    /// The time of the valid entry among the due tags; `.max` without one.
    var scheduled: Int64 = .max
    /// The time since which the tag is away; nil while it is present or was never received.
    var awaySince: Int64?
    /// The receivers of the last seconds, for the evidence about receivers.
    var heard: [Heard] = []
    var sample: Sample?

    /// The time of the next position or of the tag's absence.
    ///
    /// - Parameters:
    ///   - quiet: the time in nanoseconds after the latest reading during which the tag has positions.
    ///   - listening: the time since which messages arrive, see ``FleetMachine/listening``.
    func due(quiet: Int64, listening: Int64) -> Int64 {
        guard session != nil else { return .max }
        let isMoving = oldestNew != nil || nextPosition <= latest.adding(quiet)
        return min(isMoving ? nextPosition : .max, away(listening: listening))
    }

    /// The time at which the tag is away, unless it is received before.
    func away(listening: Int64) -> Int64 { max(latest, listening).adding(timeout) }
}

extension Int64 {
    /// Returns the sum, clamped to the bounds.
    func adding(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, clamped to the bounds.
    func subtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < 0 ? .min : .max) : difference
    }

    /// Returns the product with a positive number, clamped to the bounds.
    func multiplied(by other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? (self < 0 ? .min : .max) : product
    }
}

/// A reading that waits in the reorder window.
///
/// Readings are ordered by their instant. The order of readings with the same instant depends on their content alone,
/// so that the order of arrival doesn't change the result.
struct PendingReading: Comparable, Sendable {
    /// Nanoseconds since 1970-01-01 UTC.
    var nanoseconds: Int64
    /// The hash of the tag's key.
    var hash: UInt64
    /// The index of the tag's record.
    var slot: Int
    /// The index of the receiver.
    var receiver: Int
    /// The RSSI in dBm.
    var rssi: Double
    /// The window of the gateway's filter in nanoseconds.
    var window: Int64
    /// The signal strength at 1 m that the tag advertises, in dBm; NaN if unknown.
    var measuredPower: Double

    static func < (left: PendingReading, right: PendingReading) -> Bool {
        if left.nanoseconds != right.nanoseconds { return left.nanoseconds < right.nanoseconds }
        if left.hash != right.hash { return left.hash < right.hash }
        if left.receiver != right.receiver { return left.receiver < right.receiver }
        return (left.rssi, left.window) < (right.rssi, right.window)
    }
}

/// The time at which a tag has its next position or is away.
///
/// A tag that was rescheduled leaves its earlier entry in the queue; ``TagRecord/scheduled`` identifies the valid one.
struct DueTag: Comparable, Sendable {
    /// Nanoseconds since 1970-01-01 UTC.
    var nanoseconds: Int64
    /// The hash of the tag's key.
    var hash: UInt64
    /// The index of the tag's record.
    var slot: Int

    static func < (left: DueTag, right: DueTag) -> Bool {
        (left.nanoseconds, left.hash, left.slot) < (right.nanoseconds, right.hash, right.slot)
    }
}

/// A priority queue whose first element is the smallest one. Insertion and removal take logarithmic time.
///
/// Source: J. W. J. Williams, *Algorithm 232: Heapsort*, Communications of the ACM 7(6), 1964.
struct BinaryHeap<Element: Comparable & Sendable>: Sendable {
    /// The elements, each at most as great as those at twice its index plus 1 and 2.
    private(set) var elements: [Element] = []
    /// The number of comparisons so far, from which tests derive the growth of the time.
    private(set) var comparisons = 0

    /// Creates an empty queue.
    init() {}

    var count: Int { elements.count }
    var first: Element? { elements.first }

    mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            comparisons += 1
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the smallest element; nil if the queue is empty.
    @discardableResult
    mutating func removeFirst() -> Element? {
        guard let last = elements.popLast() else { return nil }
        guard let first = elements.first else { return last }
        elements[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in 2 * parent + 1..<min(2 * parent + 3, max(elements.count, 2 * parent + 1)) {
                comparisons += 1
                if elements[child] < elements[least] { least = child }
            }
            guard least != parent else { return first }
            elements.swapAt(parent, least)
            parent = least
        }
    }
}
