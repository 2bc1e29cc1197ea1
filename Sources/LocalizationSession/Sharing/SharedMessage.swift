/// A text that one device sends to the others in a room.
public struct SharedMessage: Hashable, Sendable {
    /// The device that sent it.
    public var device: DeviceID
    /// The room that it was sent to.
    public var room: String
    /// The topic of the text, which receivers can use as a filter. Can be any text, including an empty one.
    public var tag: String
    /// The text.
    public var text: String
    /// The time of sending in seconds since 1970 (UTC), by the sender's clock.
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
