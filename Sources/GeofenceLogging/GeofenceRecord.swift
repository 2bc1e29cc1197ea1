import IndoorVocabulary
import LocalizationSession
import VenueModel

/// One line of a geofence log: a fence or a room was entered or left.
public struct GeofenceRecord: Hashable, Sendable {
    /// What was entered or left.
    public enum Kind: String, Hashable, Sendable {
        /// A fence of the venue's packet.
        case fence
        /// A room.
        case room
        /// A geofence of the application.
        case geofence
    }

    /// The number of the record, which grows with each; 0 before it is written.
    public var id: Int64
    /// When it was told, in seconds since 1970 (UTC), by the device's clock.
    public var time: Double
    /// When it happened, on the timeline of the session's source.
    public var instant: Instant
    /// When it happened, on the source's wall clock; nil if the source has none. Of a recording, this is long before `time`.
    public var unixTime: UnixTime?
    /// The venue in which it happened.
    public var venueID: VenueID
    /// What was entered or left.
    public var kind: Kind
    /// What names the area: the number of a fence or room within its venue, the application's own name of a geofence.
    public var areaID: String
    /// The area's name for people.
    public var name: String
    /// Whether the device came in; otherwise it went out.
    public var isEntry: Bool

    /// Creates a record.
    public init(
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
    /// - Parameter time: when it is told, in seconds since 1970 (UTC).
    public init(_ event: LocalizationEvent, at time: Double) {
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
