import IndoorVocabulary
import LocalizationSession
import VenueModel

/// A record of a geofence log: the device entered or left a geofence or a room.
public struct GeofenceRecord: Hashable, Sendable {
    /// The kinds of area.
    public enum Kind: String, Hashable, Sendable {
        /// A geofence of the venue packet.
        case fence
        /// A room.
        case room
        /// A geofence of the application.
        case geofence
    }

    /// The number of the record, which increases with each record; 0 before it is written.
    public var id: Int64
    /// The time at which the session reported the event, in seconds since 1970 (UTC), from the device's clock.
    public var time: Double
    /// The time of the event, on the timeline of the session's source.
    public var instant: Instant
    /// The time of the event on the source's wall clock; nil if the source has none.
    ///
    /// For a recording, it is usually long before `time`.
    public var unixTime: UnixTime?
    /// The venue of the event.
    public var venueID: VenueID
    /// The kind of area that the device entered or left.
    public var kind: Kind
    /// The identifier of the area.
    ///
    /// A geofence or room of the venue has a number as its identifier; a geofence of the application has the name that
    /// the application has chosen.
    public var areaID: String
    /// The display name of the area.
    public var name: String
    /// Whether the device entered the area; false if it left.
    public var isEntry: Bool

    /// Creates a record.
    package init(
        id: Int64 = 0, time: Double, instant: Instant, unixTime: UnixTime? = nil, venueID: VenueID, kind: Kind,
        areaID: String, name: String, isEntry: Bool
    ) {
        self.id = id
        self.time = time
        self.instant = instant
        self.unixTime = unixTime
        self.venueID = venueID
        self.kind = kind
        self.areaID = areaID
        self.name = name
        self.isEntry = isEntry
    }

    /// Creates the record of an event.
    ///
    /// - Parameter time: the time at which the session reports it, in seconds since 1970 (UTC).
    package init(_ event: LocalizationEvent, at time: Double) {
        let area: (kind: Kind, id: String, name: String) =
            switch event.kind {
            case .enterFence(let fence), .exitFence(let fence): (.fence, "\(fence.id)", fence.name)
            case .enterRoom(let room), .exitRoom(let room): (.room, "\(room.id)", room.name)
            case .enterGeofence(let fence), .exitGeofence(let fence): (.geofence, fence.id, fence.name)
            }
        self.init(
            time: time, instant: event.instant, unixTime: event.unixTime, venueID: event.venueID, kind: area.kind,
            areaID: area.id, name: area.name, isEntry: event.isEntry)
    }
}
