import IndoorVocabulary
import VenueModel

/// What a session is doing.
///
/// | from | to | when |
/// | --- | --- | --- |
/// | idle, error | started | `start()` |
/// | idle, error | error | `start()` with settings out of range |
/// | started | searchVenue | the catalogue of venues is there |
/// | searchVenue | getPacket | a venue's beacons, or a satellite position, tell which venue this is |
/// | getPacket | findFloor | the venue's packet is there |
/// | findFloor | localizationRunning | the floor is known |
/// | localizationRunning | findFloor | the floor has changed |
/// | getPacket, findFloor, localizationRunning | searchVenue | the venue is lost, or the device is outdoors |
/// | any but idle | idle | `stop()` |
/// | any but idle and error | idle | the source has ended |
/// | any but idle and error | error | a critical or a credential error |
public enum LocalizationState: Hashable, Sendable {
    /// Nothing happens.
    case idle
    /// The session has begun; the catalogue of venues is being read.
    case started
    /// Beacons and satellites are watched for a known venue.
    case searchVenue
    /// The venue is known, its packet is on the way; `progress` runs from 0 to 1.
    case getPacket(venueID: VenueID, progress: Double)
    /// The packet is there, the floor not yet known.
    case findFloor(Venue)
    /// Positions are being emitted.
    case localizationRunning(RunningState)
    /// The session has ended with an error; `start()` begins a new one.
    case error(LocalizationError)

    /// Whether the device counts as outdoors; nil where the session is not looking.
    public var isOutdoor: Bool? {
        switch self {
        case .idle, .error: nil
        case .started, .searchVenue: true
        case .getPacket, .findFloor, .localizationRunning: false
        }
    }

    /// Whether no session is on: none has begun, or it has ended, be it with an error.
    public var isOver: Bool {
        switch self {
        case .idle, .error: true
        case .started, .searchVenue, .getPacket, .findFloor, .localizationRunning: false
        }
    }

    /// The state's name, as in recordings of sessions: `idle`, `started`, `searchVenue`, ….
    public var name: String {
        switch self {
        case .idle: "idle"
        case .started: "started"
        case .searchVenue: "searchVenue"
        case .getPacket: "getPacket"
        case .findFloor: "findFloor"
        case .localizationRunning: "localizationRunning"
        case .error: "error"
        }
    }

    /// The venue that the device is in; nil while that is not known.
    public var venueID: VenueID? {
        switch self {
        case .idle, .started, .searchVenue, .error: nil
        case .getPacket(let venueID, _): venueID
        case .findFloor(let venue): venue.id
        case .localizationRunning(let running): running.venue.id
        }
    }
}

/// Where positions come from while they do: a venue and the map that the device is on.
public struct RunningState: Hashable, Sendable {
    /// The venue with all its data.
    public var venue: Venue
    /// The map that the device is on.
    public var mapID: MapID

    /// Creates the state of running on a map of a venue.
    public init(venue: Venue, mapID: MapID) {
        self.venue = venue
        self.mapID = mapID
    }

    /// The venue that the device is in.
    public var venueID: VenueID { venue.id }
    /// The map itself; nil if the venue has no such map.
    public var map: VenueMap? { venue.map(mapID) }
    /// Path of the map's Deep Zoom tiles; nil if there are none.
    public var tilesPath: String? { map?.tilesPath }
    /// Width of the plan's image in pixels; nil without an image.
    public var mapWidth: Int? { map?.widthPixels }
    /// Height of the plan's image in pixels; nil without an image.
    public var mapHeight: Int? { map?.heightPixels }
}
