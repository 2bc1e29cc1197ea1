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
