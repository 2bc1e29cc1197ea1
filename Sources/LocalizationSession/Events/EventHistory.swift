import IndoorVocabulary

/// The history of the events of the device.
///
/// A history has a fixed capacity. When it is full, each new event replaces the oldest one, which is counted as
/// dropped.
public struct EventHistory: Hashable, Sendable {
    /// The default capacity.
    public static let defaultCapacity = 10_000

    /// The greatest number of events in the history.
    public let capacity: Int
    /// The number of events that newer ones have replaced.
    public private(set) var droppedCount = 0
    private var ring: [LocalizationEvent] = []
    /// The index of the oldest event when the ring is full.
    private var oldest = 0

    /// Creates an empty history.
    ///
    /// - Parameter capacity: the greatest number of events; a value below 0 is treated as 0, which keeps none.
    public init(capacity: Int = defaultCapacity) {
        self.capacity = max(0, capacity)
    }

    /// The events, in the order in which they occurred.
    public var events: [LocalizationEvent] { Array(ring[oldest...] + ring[..<oldest]) }

    /// Returns the events after an instant, in the order in which they occurred. Linear in the number of events.
    public func events(after instant: Instant) -> [LocalizationEvent] {
        events.filter { $0.instant > instant }
    }

    /// Returns the events after a wall-clock time and those without one, in the order in which they occurred.
    ///
    /// Linear in the number of events.
    public func events(after time: UnixTime) -> [LocalizationEvent] {
        events.filter { event in event.unixTime.map { $0 > time } ?? true }
    }

    /// Appends an event.
    package mutating func append(_ event: LocalizationEvent) {
        if ring.count < capacity {
            ring.append(event)
        } else {
            droppedCount += 1
            guard capacity > 0 else { return }
            ring[oldest] = event
            oldest = (oldest + 1) % capacity
        }
    }

    /// Removes all events and resets the number of dropped ones.
    package mutating func removeAll() { self = EventHistory(capacity: capacity) }
}
