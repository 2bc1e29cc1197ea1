import IndoorVocabulary
import VenueModel

/// The state of a localization session.
///
/// | from | to | when |
/// | --- | --- | --- |
/// | idle, error | started | `start()` |
/// | idle, error | error | `start()` with settings out of range |
/// | started | searchVenue | the catalogue of venues has arrived |
/// | searchVenue | getPacket | beacons identify the venue; or the device enters a venue that satellite positions identified before |
/// | getPacket | findFloor | the venue's packet has arrived |
/// | findFloor | localizationRunning | the floor is known |
/// | localizationRunning | findFloor | the floor has changed |
/// | getPacket, findFloor, localizationRunning | searchVenue | the venue is lost, or the device is outdoors |
/// | any except idle | idle | `stop()` |
/// | any except idle and error | idle | the source has ended |
/// | any except idle and error | error | a critical or a credential error |
public enum LocalizationState: Hashable, Sendable {
    /// No session is running.
    case idle
    /// The session has started and fetches the catalogue of venues.
    case started
    /// The session searches for a known venue, by beacons and satellite positions; the device is outdoors.
    ///
    /// The state lasts until a beacon of a venue is received, also after satellite positions have identified the venue
    /// and ``Localizer/downloadedVenues`` has its data.
    case searchVenue
    /// The venue is known, and the session fetches its packet; `progress` runs from 0 to 1.
    case getPacket(venueID: VenueID, progress: Double)
    /// The session has the packet and searches for the floor.
    case findFloor(Venue)
    /// The floor is known, and the session emits positions.
    case localizationRunning(RunningState)
    /// The session ended with an error; `start()` starts a new one.
    case error(LocalizationError)

    /// Whether the session considers the device outdoors; nil if no session is running.
    public var isOutdoor: Bool? {
        switch self {
        case .idle, .error: nil
        case .started, .searchVenue: true
        case .getPacket, .findFloor, .localizationRunning: false
        }
    }

    /// Whether no session is running: none has started, or the last one ended, with or without an error.
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

    /// The venue with its data; nil while there is no data.
    package var venue: Venue? {
        switch self {
        case .idle, .started, .searchVenue, .getPacket, .error: nil
        case .findFloor(let venue): venue
        case .localizationRunning(let running): running.venue
        }
    }

    /// The map that the device is on; nil while it is unknown.
    package var mapID: MapID? {
        if case .localizationRunning(let running) = self { running.mapID } else { nil }
    }

    /// The venue that the device is in; nil while it is unknown.
    public var venueID: VenueID? {
        switch self {
        case .idle, .started, .searchVenue, .error: nil
        case .getPacket(let venueID, _): venueID
        case .findFloor(let venue): venue.id
        case .localizationRunning(let running): running.venue.id
        }
    }
}

/// The venue and the map of a session that emits positions.
public struct RunningState: Hashable, Sendable {
    /// The venue with all its data.
    public var venue: Venue
    /// The map that the device is on.
    public var mapID: MapID

    /// Creates the state of a session on a map of a venue.
    package init(venue: Venue, mapID: MapID) {
        self.venue = venue
        self.mapID = mapID
    }

    /// The venue that the device is in.
    public var venueID: VenueID { venue.id }
    /// The map that the device is on; nil if the venue has no such map.
    public var map: VenueMap? { venue.map(mapID) }
    /// The path of the map's Deep Zoom tiles; nil if there are none.
    public var tilesPath: String? { map?.tilesPath }
    /// The width of the plan's image in pixels; nil without an image.
    public var mapWidth: Int? { map?.widthPixels }
    /// The height of the plan's image in pixels; nil without an image.
    public var mapHeight: Int? { map?.heightPixels }
}
