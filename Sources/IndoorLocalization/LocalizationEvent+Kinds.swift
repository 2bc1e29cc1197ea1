extension LocalizationEvent {
    /// The fence that was entered or left; nil if it was a room.
    public var fence: Fence? {
        switch kind {
        case .enterFence(let fence), .exitFence(let fence): fence
        case .enterRoom, .exitRoom: nil
        }
    }

    /// The room that was entered or left; nil if it was a fence.
    public var room: Room? {
        switch kind {
        case .enterRoom(let room), .exitRoom(let room): room
        case .enterFence, .exitFence: nil
        }
    }

    /// Whether the device came in; otherwise it went out.
    public var isEntry: Bool {
        switch kind {
        case .enterFence, .enterRoom: true
        case .exitFence, .exitRoom: false
        }
    }
}
