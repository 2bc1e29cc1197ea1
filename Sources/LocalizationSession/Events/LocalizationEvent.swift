import IndoorVocabulary
import VenueModel

/// Something that happened to the device on its way.
public struct LocalizationEvent: Hashable, Sendable {
    /// What can happen.
    public enum Kind: Hashable, Sendable {
        /// The device came into a fence.
        case enterFence(Fence)
        /// The device went out of a fence.
        case exitFence(Fence)
        /// The device came into a room.
        case enterRoom(Room)
        /// The device went out of a room.
        case exitRoom(Room)
        /// The device came into a geofence of the application.
        case enterGeofence(Geofence)
        /// The device went out of a geofence of the application.
        case exitGeofence(Geofence)
    }

    /// When it happened, on the source's timeline.
    public var instant: Instant
    /// When it happened, on the wall clock; nil if the source has none, see ``ScanSource/wallClock``.
    public var unixTime: UnixTime?
    /// The venue in which it happened.
    public var venueID: VenueID
    /// What happened.
    public var kind: Kind

    /// Creates an event.
    public init(instant: Instant, unixTime: UnixTime? = nil, venueID: VenueID, kind: Kind) {
        self.instant = instant
        self.unixTime = unixTime
        self.venueID = venueID
        self.kind = kind
    }
}
