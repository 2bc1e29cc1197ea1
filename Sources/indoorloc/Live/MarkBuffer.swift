import IndoorLocalization
import ScanRecording

/// The entries of a recording from the last seconds, into which marks are inserted in the order of time.
///
/// A key press can precede readings that arrive later, and a mark can be undone while it is in the buffer.
struct MarkBuffer {
    /// The time for which a mark can be undone.
    static let span = Duration.seconds(30)
    /// The maximum number of entries. A busy hall can exceed it in less than `span`.
    static let limit = 65_536

    /// The time after which no reading or key press from before arrives.
    static let lateness = Duration.seconds(5)

    /// The entries, in the order of time.
    private(set) var entries: [RecordingEntry] = []

    /// Whether the buffer has its maximum number of entries.
    var isFull: Bool { entries.count >= Self.limit }

    /// Adds a reading.
    mutating func add(_ reading: SensorReading) { insert(.measurement(reading), at: reading.instant) }

    /// Removes and returns the entries that no mark or undo can change any more: those before `span`, and those before
    /// the first mark and before `lateness`. A full buffer also releases its older half.
    mutating func release() -> [RecordingEntry] {
        guard let latest = entries.last?.instant else { return [] }
        let (oldest, settled) = (latest.advanced(by: .zero - Self.span), latest.advanced(by: .zero - Self.lateness))
        let firstMark = entries.firstIndex(where: Self.isMark) ?? entries.count
        var count = entries.prefix(firstMark).prefix { ($0.instant ?? .zero) < settled }.count
        if count == firstMark { count += entries[count...].prefix { ($0.instant ?? .zero) < oldest }.count }
        if isFull { count = max(count, entries.count / 2) }
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
        guard let place = entries.lastIndex(where: Self.isMark), case .truth(let truth) = entries.remove(at: place)
        else { return nil }
        return truth
    }

    /// Removes and returns all entries.
    mutating func drain() -> [RecordingEntry] {
        defer { entries = [] }
        return entries
    }

    private static func isMark(_ entry: RecordingEntry) -> Bool { if case .truth = entry { true } else { false } }

    private mutating func insert(_ entry: RecordingEntry, at instant: Instant) {
        let place = entries.lastIndex { ($0.instant ?? .zero) <= instant }.map { $0 + 1 } ?? 0
        entries.insert(entry, at: place)
    }
}
