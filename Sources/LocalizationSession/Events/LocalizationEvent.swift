import IndoorVocabulary
import VenueModel

/// An entry of the device into a room or fence, or an exit from one.
public struct LocalizationEvent: Hashable, Sendable {
    /// The kinds of events.
    public enum Kind: Hashable, Sendable {
        /// The device entered a fence of the venue.
        case enterFence(Fence)
        /// The device left a fence of the venue.
        case exitFence(Fence)
        /// The device entered a room.
        case enterRoom(Room)
        /// The device left a room.
        case exitRoom(Room)
        /// The device entered a geofence of the application.
        case enterGeofence(Geofence)
        /// The device left a geofence of the application.
        case exitGeofence(Geofence)
    }

    /// The instant of the event, on the source's timeline.
    public var instant: Instant
    /// The wall-clock time of the event; nil if the source has no wall clock, see ``ScanSource/wallClock``.
    public var unixTime: UnixTime?
    /// The venue in which the event occurred.
    public var venueID: VenueID
    /// The kind of the event, with the room or fence.
    public var kind: Kind

    /// Creates an event.
    public init(instant: Instant, unixTime: UnixTime? = nil, venueID: VenueID, kind: Kind) {
        self.instant = instant
        self.unixTime = unixTime
        self.venueID = venueID
        self.kind = kind
    }
}

extension LocalizationEvent: CustomStringConvertible {
    /// The kind of the event and the name of the area, such as `enterRoom Kitchen`.
    public var description: String { "\(kind)" }
}

extension LocalizationEvent.Kind: CustomStringConvertible {
    /// The case and the name of the area, such as `enterRoom Kitchen`, without its corners.
    public var description: String {
        switch self {
        case .enterFence(let fence): "enterFence \(fence.name)"
        case .exitFence(let fence): "exitFence \(fence.name)"
        case .enterRoom(let room): "enterRoom \(room.name)"
        case .exitRoom(let room): "exitRoom \(room.name)"
        case .enterGeofence(let fence): "enterGeofence \(fence.name)"
        case .exitGeofence(let fence): "exitGeofence \(fence.name)"
        }
    }
}

extension LocalizationEvent {
    /// The fence of the venue that the device entered or left; nil for other kinds.
    public var fence: Fence? {
        switch kind {
        case .enterFence(let fence), .exitFence(let fence): fence
        case .enterRoom, .exitRoom, .enterGeofence, .exitGeofence: nil
        }
    }

    /// The geofence of the application that the device entered or left; nil for other kinds.
    public var geofence: Geofence? {
        switch kind {
        case .enterGeofence(let fence), .exitGeofence(let fence): fence
        case .enterFence, .exitFence, .enterRoom, .exitRoom: nil
        }
    }

    /// The room that the device entered or left; nil for other kinds.
    public var room: Room? {
        switch kind {
        case .enterRoom(let room), .exitRoom(let room): room
        case .enterFence, .exitFence, .enterGeofence, .exitGeofence: nil
        }
    }

    /// Whether the event is an entry; otherwise it is an exit.
    public var isEntry: Bool {
        switch kind {
        case .enterFence, .enterRoom, .enterGeofence: true
        case .exitFence, .exitRoom, .exitGeofence: false
        }
    }
}

extension LocalizationEvent {
    /// Returns the event with its wall-clock time; without a clock, the event has none.
    func timed(by clock: WallClock?, at source: Instant? = nil) -> LocalizationEvent {
        var event = self
        event.unixTime = clock?.unixTime(at: source ?? instant)
        return event
    }
}

/// The history of the events of the device.
///
/// A history has a fixed capacity. When it is full, each new event replaces the oldest one, which is counted as
/// dropped.
public struct EventHistory: Hashable, Sendable {
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
    public init(capacity: Int = 10_000) {
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
