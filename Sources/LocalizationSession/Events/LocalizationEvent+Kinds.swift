import IndoorVocabulary
import VenueModel

extension LocalizationEvent: CustomStringConvertible {
    /// What happened and where, by its name, such as `enterRoom Kitchen`.
    public var description: String { "\(kind)" }
}

extension LocalizationEvent.Kind: CustomStringConvertible {
    /// The case and the name of the place, such as `enterRoom Kitchen`, without the place's many corners.
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
    /// The fence of the venue that was entered or left; nil if it was something else.
    public var fence: Fence? {
        switch kind {
        case .enterFence(let fence), .exitFence(let fence): fence
        case .enterRoom, .exitRoom, .enterGeofence, .exitGeofence: nil
        }
    }

    /// The geofence of the application that was entered or left; nil if it was something else.
    public var geofence: Geofence? {
        switch kind {
        case .enterGeofence(let fence), .exitGeofence(let fence): fence
        case .enterFence, .exitFence, .enterRoom, .exitRoom: nil
        }
    }

    /// The room that was entered or left; nil if it was something else.
    public var room: Room? {
        switch kind {
        case .enterRoom(let room), .exitRoom(let room): room
        case .enterFence, .exitFence, .enterGeofence, .exitGeofence: nil
        }
    }

    /// Whether the device came in; otherwise it went out.
    public var isEntry: Bool {
        switch kind {
        case .enterFence, .enterRoom, .enterGeofence: true
        case .exitFence, .exitRoom, .exitGeofence: false
        }
    }
}

extension LocalizationEvent {
    /// The event with its time on a wall clock; without one it has no such time.
    func timed(by clock: WallClock?, at source: Instant? = nil) -> LocalizationEvent {
        var event = self
        event.unixTime = clock?.unixTime(at: source ?? instant)
        return event
    }
}
