/// The rule by which a reader drops outputs of a fleet that are repeated or out of date.
///
///     var filter = OutputFilter()
///     for output in outputs where filter.accepts(output) { store(output) }
///
/// A fleet emits each output at least once, even after a restart or when another process continues. The filter accepts
/// an output if its epoch, and within the epoch its sequence, is greater than that of the last accepted output of the
/// tag.
public struct OutputFilter: Sendable {
    private struct Mark: Comparable {
        let epoch, sequence: UInt64

        static func < (left: Self, right: Self) -> Bool {
            (left.epoch, left.sequence) < (right.epoch, right.sequence)
        }
    }

    /// The maximum number of tags whose last output the filter stores.
    public let capacity: Int
    /// The number of dropped outputs.
    public private(set) var droppedCount = 0
    /// Two generations: the older one is discarded when the newer one reaches half of the capacity.
    private var newer: [TagKey: Mark] = [:]
    private var older: [TagKey: Mark] = [:]

    /// Creates a filter without outputs.
    ///
    /// - Parameter capacity: the maximum number of tags, at least 2. If there are more, the filter discards the tags
    ///   without an output for the longest time, and would accept an old output of them.
    public init(capacity: Int = 1_000_000) { self.capacity = max(2, capacity) }

    /// The number of tags whose last output the filter stores.
    package var tagCount: Int { newer.count + older.keys.count { newer[$0] == nil } }

    /// Returns whether an output is greater than the last accepted one of its tag, and stores it if so.
    public mutating func accepts(_ output: FleetOutput) -> Bool {
        let mark = Mark(epoch: output.epoch, sequence: output.sequence)
        if let last = newer[output.tag] ?? older[output.tag], mark <= last {
            droppedCount += 1
            return false
        }
        if newer.count >= capacity / 2, newer[output.tag] == nil {
            older = newer
            newer.removeAll(keepingCapacity: false)
        }
        newer[output.tag] = mark
        return true
    }
}
