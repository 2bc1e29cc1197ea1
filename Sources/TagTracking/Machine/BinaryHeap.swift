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
