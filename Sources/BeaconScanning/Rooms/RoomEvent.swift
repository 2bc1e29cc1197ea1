import IndoorVocabulary

/// A trained room was entered or left, or is still the present one.
public struct RoomEvent: Hashable, Sendable {
    /// What can happen.
    public enum Kind: String, Hashable, Sendable {
        /// The device is believed to be in the room from now on.
        case enter
        /// The device is believed to be in the room no more.
        case exit
        /// The room that the device is in, told with each valid estimate.
        case current
    }

    /// When it happened.
    public var instant: Instant
    /// The region that the room belongs to, by the name under which it is tracked.
    public var regionID: String
    /// The room's name.
    public var room: String
    /// What happened.
    public var kind: Kind
    /// How likely the device is in the room, by the last estimate; in [0, 1].
    public var probability: Double

    /// Creates an event.
    public init(instant: Instant, regionID: String, room: String, kind: Kind, probability: Double) {
        self.instant = instant
        self.regionID = regionID
        self.room = room
        self.kind = kind
        self.probability = probability
    }
}
