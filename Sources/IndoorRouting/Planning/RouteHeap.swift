/// A priority queue of nodes, ordered by the lower bound of the cost of a route through them.
///
/// A 4-ary heap, which has half the depth of a binary heap and stores the four children of an entry in contiguous
/// memory. Source: D. B. Johnson, *Priority queues with update and finding minimum spanning trees*, Information
/// Processing Letters 4 (1975).
struct RouteHeap: Sendable {
    struct Entry: Sendable {
        var key: Double
        var node: Int32
    }

    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    /// Removes all entries and keeps the capacity.
    mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

    mutating func push(_ entry: Entry) {
        entries.append(entry)
        var hole = entries.count &- 1
        var span = entries.mutableSpan
        while hole > 0 {
            let above = (hole &- 1) >> 2
            let other = span[above]
            guard entry.key < other.key else { break }
            span[hole] = other
            hole = above
        }
        span[hole] = entry
    }

    /// Removes and returns the entry with the smallest key; nil if the heap is empty.
    mutating func pop() -> Entry? {
        guard let last = entries.popLast() else { return nil }
        guard let top = entries.first else { return last }
        let count = entries.count
        var span = entries.mutableSpan
        var hole = 0
        while true {
            let first = hole << 2 &+ 1
            guard first < count else { break }
            var (least, key) = (first, span[first].key)
            for child in first &+ 1..<min(first &+ 4, count) where span[child].key < key {
                (least, key) = (child, span[child].key)
            }
            guard key < last.key else { break }
            span[hole] = span[least]
            hole = least
        }
        span[hole] = last
        return top
    }
}
