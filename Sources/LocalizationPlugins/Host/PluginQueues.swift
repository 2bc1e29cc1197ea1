/// What waits for one plugin: a queue for each stream, and of what plugins tell, one for each sender.
///
/// So a stream that is flooded takes nothing from the others, and a plugin that talks too much takes nothing from those
/// that talk, too. What comes to a full queue takes the place of its oldest element, and is counted. What is there is
/// taken in the order in which it came, whatever queue it is in.
package struct PluginQueues: Sendable {
    fileprivate struct Source: Hashable, Sendable {
        let stream: PluginStreams
        let sender: PluginID?
    }

    fileprivate struct Queue: Sendable {
        var elements: [(number: UInt64, delivery: PluginDelivery)] = []
        /// Where the queue begins: what lies before was taken.
        var head = 0
    }

    private let capacity: Int?
    private var queues: [Source: Queue] = [:]
    private var latest: UInt64 = 0
    /// How many elements were lost because they were not taken in time.
    package private(set) var dropped = 0

    /// Creates queues without elements.
    ///
    /// - Parameter capacity: how many elements a queue holds at most, 1 at least; nil for any number.
    package init(capacity: Int?) { self.capacity = capacity.map { max(1, $0) } }

    package var isEmpty: Bool { queues.isEmpty }

    /// Puts an element at the end.
    ///
    /// - Parameter sender: the plugin that it is from, if that is there: of senders that are not, there is no end.
    package mutating func append(_ delivery: PluginDelivery, from sender: PluginID?) {
        latest += 1
        if queues[Source(stream: delivery.stream, sender: sender), default: Queue()].append(
            delivery, number: latest, capacity)
        {
            dropped += 1
        }
    }

    /// Removes and returns the oldest element; nil if there is none.
    package mutating func popOldest() -> PluginDelivery? {
        // There are about as many queues as streams.
        guard let oldest = queues.min(by: { $0.value.firstNumber < $1.value.firstNumber })?.key else { return nil }
        let delivery = queues[oldest]?.popFirst()
        if queues[oldest]?.isEmpty == true { queues[oldest] = nil }
        return delivery
    }
}

extension PluginQueues.Queue {
    fileprivate var waiting: Int { elements.count - head }
    fileprivate var isEmpty: Bool { waiting == 0 }
    fileprivate var firstNumber: UInt64 { isEmpty ? .max : elements[head].number }

    /// Returns whether an element was lost.
    fileprivate mutating func append(_ delivery: PluginDelivery, number: UInt64, _ capacity: Int?) -> Bool {
        let isFull = capacity.map { waiting >= $0 } ?? false
        if isFull { head += 1 }
        // Moves what waits to the front before the queue grows: each element is moved once on average.
        if head > 0, head >= waiting {
            elements.removeFirst(head)
            head = 0
        }
        elements.append((number, delivery))
        return isFull
    }

    fileprivate mutating func popFirst() -> PluginDelivery? {
        guard !isEmpty else { return nil }
        defer { head += 1 }
        return elements[head].delivery
    }
}
