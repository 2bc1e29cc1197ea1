/// The waiting deliveries of one plugin: a queue for each stream, and for plugin data one for each sender.
///
/// Many elements of one stream therefore displace no elements of other streams, and a plugin that sends a lot of data
/// displaces no data of other plugins. A new element in a full queue replaces the oldest one, which is counted as lost.
/// The queues deliver elements in the order of their arrival, whatever queue they are in.
package struct PluginQueues: Sendable {
    fileprivate struct Source: Hashable, Sendable {
        let stream: PluginStreams
        let sender: PluginID?
    }

    fileprivate struct Queue: Sendable {
        var elements: [(number: UInt64, delivery: PluginDelivery)] = []
        /// The index of the queue's first element; the elements before it were removed.
        var head = 0
    }

    private let capacity: Int?
    private var queues: [Source: Queue] = [:]
    private var latest: UInt64 = 0
    /// The number of elements that were lost because the plugin was too slow.
    package private(set) var dropped = 0

    /// Creates empty queues.
    ///
    /// - Parameter capacity: the maximum number of elements in a queue, at least 1; nil for no limit.
    package init(capacity: Int?) { self.capacity = capacity.map { max(1, $0) } }

    package var isEmpty: Bool { queues.isEmpty }

    /// Appends an element.
    ///
    /// - Parameter sender: the plugin that sent the element; nil if the registry doesn't have it, because the number of
    ///   unknown senders has no limit.
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
        // A linear search is fast enough, because there are about as many queues as streams.
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

    /// Appends an element; returns whether another one was lost.
    fileprivate mutating func append(_ delivery: PluginDelivery, number: UInt64, _ capacity: Int?) -> Bool {
        let isFull = capacity.map { waiting >= $0 } ?? false
        if isFull { head += 1 }
        // Moves the waiting elements to the front before the queue grows: on average, each element is moved once.
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
