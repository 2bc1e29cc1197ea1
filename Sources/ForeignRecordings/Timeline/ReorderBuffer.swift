import IndoorVocabulary
import ScanRecording

/// Entries that wait until no earlier entry can follow.
///
/// Programs write some entries late, and tables may have any order. The buffer returns entries by time, and entries of
/// the same time in the order of the file.
struct ReorderBuffer: Sendable {
    /// An entry with its time and its place in the file.
    struct Item: Sendable {
        var time: ForeignTime
        var entry: RecordingEntry
        /// The place of the entry in the file; nil if it isn't from the file.
        var place: ForeignRecordingError.Place?
        fileprivate var number: Int

        fileprivate func isBefore(_ other: Item) -> Bool {
            (time.nanoseconds, number) < (other.time.nanoseconds, other.number)
        }
    }

    /// The longest time by which an entry may be late; nil keeps all entries until the end.
    private let window: Duration?
    /// The maximum number of waiting entries. Beyond it, the earliest entry no longer waits.
    private let capacity: Int
    /// A binary heap, whose first element is the earliest.
    private var heap: [Item] = []
    private var newest = Int64.min
    private var count = 0

    init(window: Duration?, capacity: Int) {
        self.window = window
        self.capacity = capacity
    }

    /// Adds an entry.
    ///
    /// - Parameter place: the place in the file; an entry without a place doesn't advance the time.
    mutating func add(_ entry: RecordingEntry, at time: ForeignTime, place: ForeignRecordingError.Place?) {
        heap.append(Item(time: time, entry: entry, place: place, number: count))
        count += 1
        if place != nil { newest = max(newest, time.nanoseconds) }
        var child = heap.count - 1
        while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Returns the earliest entry; nil if there is none, or if an earlier one can still follow.
    mutating func next(isAtEnd: Bool) -> Item? {
        guard let first = heap.first, isAtEnd || isDue(first) else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var parent = 0
        while true {
            var earliest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].isBefore(heap[earliest]) { earliest = child }
            }
            guard earliest != parent else { return first }
            heap.swapAt(parent, earliest)
            parent = earliest
        }
    }

    private func isDue(_ item: Item) -> Bool {
        if heap.count > capacity { return true }
        guard let window, newest >= item.time.nanoseconds else { return false }
        let (age, overflow) = newest.subtractingReportingOverflow(item.time.nanoseconds)
        return overflow || age >= window.nanoseconds
    }
}
