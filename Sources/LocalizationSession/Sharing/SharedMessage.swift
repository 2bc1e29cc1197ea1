/// A text that one device sends to the others in a room.
public struct SharedMessage: Hashable, Sendable {
    /// The device that sent it.
    public var device: DeviceID
    /// The room of devices that it was sent to.
    public var room: String
    /// What the text is about, by which receivers find those that are for them; any text, also an empty one.
    public var tag: String
    /// What is said.
    public var text: String
    /// When it was sent, in seconds since 1970 (UTC), by the sender's clock.
    public var sentAt: Double

    /// Creates a message.
    public init(device: DeviceID, room: String, tag: String, text: String, sentAt: Double) {
        self.device = device
        self.room = room
        self.tag = tag
        self.text = text
        self.sentAt = sentAt
    }
}
