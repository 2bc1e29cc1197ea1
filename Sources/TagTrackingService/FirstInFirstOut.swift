/// A queue whose operations take constant time on average.
struct FirstInFirstOut<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var start = 0

    var count: Int { elements.count - start }
    var isEmpty: Bool { count == 0 }
    var first: Element? { isEmpty ? nil : elements[start] }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Inserts elements before the first one, in order.
    mutating func prepend(_ others: [Element]) {
        elements.replaceSubrange(0..<start, with: others.map(Optional.some))
        start = 0
    }

    mutating func removeFirst() {
        elements[start] = nil
        start += 1
        guard start >= 64, 2 * start > elements.count else { return }
        elements.removeSubrange(0..<start)
        start = 0
    }

    mutating func popFirst() -> Element? {
        guard let first else { return nil }
        removeFirst()
        return first
    }

    /// Returns the elements that the closure accepts, in their order.
    func elements(where isAccepted: (Element) -> Bool) -> [Element] {
        var accepted: [Element] = []
        for case .some(let element) in elements[start...] where isAccepted(element) { accepted.append(element) }
        return accepted
    }
}
