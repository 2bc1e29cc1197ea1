import IndoorVocabulary

/// The entry into a trained room, the exit from it, or an update of the current room.
public struct RoomEvent: Hashable, Sendable {
    /// The kinds of events.
    public enum Kind: String, Hashable, Sendable {
        /// The device has entered the room.
        case enter
        /// The device has left the room.
        case exit
        /// The device is in the room; emitted with each valid estimate.
        case current
    }

    /// When it happened.
    public var instant: Instant
    /// The name of the tracked region that the room belongs to.
    public var regionID: String
    /// The room's name.
    public var room: String
    /// The kind of the event.
    public var kind: Kind
    /// The probability that the device is in the room, from the latest estimate; in [0, 1].
    public var probability: Double

    /// Creates an event.
    package init(instant: Instant, regionID: String, room: String, kind: Kind, probability: Double) {
        self.instant = instant
        self.regionID = regionID
        self.room = room
        self.kind = kind
        self.probability = probability
    }
}
