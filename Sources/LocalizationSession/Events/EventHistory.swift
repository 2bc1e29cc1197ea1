import IndoorVocabulary

/// What happened to the device so far, for questions after the fact.
///
/// It holds a bounded number of events: each one beyond takes the place of the oldest, and is counted.
public struct EventHistory: Hashable, Sendable {
    /// How many events are held if nothing else is asked for.
    public static let defaultCapacity = 10_000

    /// How many events are held at most.
    public let capacity: Int
    /// How many events had to go because newer ones came.
    public private(set) var droppedCount = 0
    private var ring: [LocalizationEvent] = []
    /// Where the oldest event is, once the ring is full.
    private var oldest = 0

    /// Creates an empty history.
    ///
    /// - Parameter capacity: how many events are held at most; below 0 counts as 0, which holds none.
    public init(capacity: Int = defaultCapacity) {
        self.capacity = max(0, capacity)
    }

    /// The events that are held, in the order in which they happened.
    public var events: [LocalizationEvent] { Array(ring[oldest...] + ring[..<oldest]) }

    /// The events later than an instant, in the order in which they happened. Linear in the events that are held.
    public func events(after instant: Instant) -> [LocalizationEvent] {
        events.filter { $0.instant > instant }
    }

    /// The events later than a wall-clock time, and those of which no such time is known, in the order in which they
    /// happened. Linear in the events that are held.
    public func events(after time: UnixTime) -> [LocalizationEvent] {
        events.filter { event in event.unixTime.map { $0 > time } ?? true }
    }

    /// Takes in what happened last.
    public mutating func append(_ event: LocalizationEvent) {
        if ring.count < capacity {
            ring.append(event)
        } else {
            droppedCount += 1
            guard capacity > 0 else { return }
            ring[oldest] = event
            oldest = (oldest + 1) % capacity
        }
    }

    /// Forgets all events, and how many were dropped.
    public mutating func removeAll() { self = EventHistory(capacity: capacity) }
}
