/// The bytes that wait for one reader: the rest of a cycle that is partly written, and whole cycles behind it.
///
/// If the queue is full, the oldest whole cycle is lost, because a new position is more useful than an old one.
package struct CycleQueue: Sendable {
    /// The number of whole cycles that wait: about 10 KB.
    package static let capacity = 32

    /// The rest of the cycle that is partly written.
    private var rest: ArraySlice<UInt8> = []
    private var waiting: [[UInt8]] = []
    /// The number of lost cycles since the last `drainLosses()`.
    package private(set) var lost = 0

    package init() {}

    package var isEmpty: Bool { rest.isEmpty && waiting.isEmpty }

    /// Appends a cycle.
    package mutating func append(_ cycle: [UInt8]) {
        if waiting.count == Self.capacity {
            waiting.removeFirst()
            lost += 1
        }
        waiting.append(cycle)
    }

    /// The bytes to write next, at most to the end of a cycle, so that each datagram contains one cycle.
    package mutating func next() -> ArraySlice<UInt8> {
        if rest.isEmpty, !waiting.isEmpty { rest = waiting.removeFirst()[...] }
        return rest
    }

    /// Removes bytes that were written.
    package mutating func consume(_ count: Int) { rest = rest.dropFirst(count) }

    /// Removes the rest of a cycle, because its reader has disconnected.
    package mutating func dropRest() {
        guard !rest.isEmpty else { return }
        rest = []
        lost += 1
    }

    /// Returns the number of lost cycles since the last call.
    package mutating func drainLosses() -> Int {
        defer { lost = 0 }
        return lost
    }
}
