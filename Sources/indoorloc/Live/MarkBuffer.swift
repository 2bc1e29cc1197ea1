import IndoorLocalization
import ScanRecording

/// The entries of a recording from the last seconds, into which marks are inserted in the order of time.
///
/// A key press can precede readings that arrive later, and a mark can be undone while it is in the buffer.
struct MarkBuffer {
    /// The time for which a mark can be undone.
    static let span = Duration.seconds(30)
    /// The maximum number of entries. A busy hall exceeds it in less than `span`.
    static let limit = 65_536

    private var entries: [RecordingEntry] = []
    /// The number of entries at which the buffer next removes the old ones.
    private var checkedCount = 64

    /// Adds a reading, which is later than all earlier ones, and returns the entries that leave the buffer.
    mutating func add(_ reading: SensorReading) -> [RecordingEntry] {
        insert(.measurement(reading), at: reading.instant)
        let oldest = reading.instant.advanced(by: .zero - Self.span)
        // The buffer doesn't remove entries after each reading, because a removal moves all remaining entries.
        let isLate = (entries.first?.instant ?? .zero).duration(to: reading.instant) >= Self.span * 2
        guard isLate || entries.count >= Self.limit || entries.count >= checkedCount else { return [] }
        let count =
            entries.count >= Self.limit ? entries.count / 2 : entries.prefix { ($0.instant ?? .zero) < oldest }.count
        checkedCount = (entries.count - count) * 2 + 64
        defer { entries.removeFirst(count) }
        return Array(entries.prefix(count))
    }

    /// Inserts a ground truth. One that precedes the buffer gets the instant of its first entry.
    mutating func insert(_ truth: Truth) {
        var truth = truth
        truth.instant = max(truth.instant, entries.first?.instant ?? truth.instant)
        insert(.truth(truth), at: truth.instant)
    }

    /// Removes the latest mark and returns it; nil if none is in the buffer.
    mutating func removeLastMark() -> Truth? {
        let place = entries.lastIndex { if case .truth = $0 { true } else { false } }
        guard let place, case .truth(let truth) = entries.remove(at: place) else { return nil }
        return truth
    }

    /// Removes and returns all entries.
    mutating func drain() -> [RecordingEntry] {
        defer { entries = [] }
        return entries
    }

    private mutating func insert(_ entry: RecordingEntry, at instant: Instant) {
        let place = entries.lastIndex { ($0.instant ?? .zero) <= instant }.map { $0 + 1 } ?? 0
        entries.insert(entry, at: place)
    }
}
