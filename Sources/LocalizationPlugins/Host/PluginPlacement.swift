import IndoorVocabulary
import LocalizationSession
import VenueModel

/// A place at which a plugin sets the device: its map, its position and its heading, as far as known.
public struct PluginPlacement: Hashable, Sendable {
    /// The map; nil for the one that the device is on.
    public var mapID: MapID?
    /// The position on that map; nil if only the heading is known.
    public var place: FixPlace?
    /// The heading of the device, in degrees clockwise from the plan's top; nil keeps the current one.
    public var heading: Double?
    /// The 68 % radius in metres, above 0.
    public var radius: Double

    /// Creates a placement.
    public init(mapID: MapID? = nil, place: FixPlace? = nil, heading: Double? = nil, radius: Double = 1) {
        self.mapID = mapID
        self.place = place
        self.heading = heading
        self.radius = radius
    }
}

/// The reason why a placement has no effect.
public enum PluginPlacementError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The placement has no map, and the map that the device is on is unknown.
    case noMap
    /// The place is in pixels or is a coordinate, and no venue is known yet to convert it.
    case noVenue(FixPlace)
    /// The venue that the device is in has no such map.
    case unknownMap(MapID, venue: VenueID)
    /// The place is invalid.
    case fix(FixError)

    public var description: String {
        switch self {
        case .noMap: "the map that the device is on is unknown; give the placement a map"
        case .noVenue(let place): "\(place) has no position on a map before a venue is known; give metres"
        case .unknownMap(let map, let venue): "venue \(venue) has no map \(map); give one of its maps"
        case .fix(let error): "\(error)"
        }
    }
}

extension PluginPlacement {
    /// Returns the fix at this place; nil if the placement has no place.
    ///
    /// - Parameter state: the state of the session, with the venue and the map.
    package func fix(in state: LocalizationState) throws(PluginPlacementError) -> Fix? {
        guard let place else { return nil }
        guard let mapID = mapID ?? state.mapID else { throw .noMap }
        var map: VenueMap?
        if let venue = state.venue {
            guard let found = venue.map(mapID) else { throw .unknownMap(mapID, venue: venue.id) }
            map = found
        } else {
            guard case .point = place else { throw .noVenue(place) }
            // For metres, only the number of the map is used.
            map = VenueMap(id: mapID, name: "", level: 0, width: 1, height: 1)
        }
        do throws(FixError) { return try map?.fix(at: place, radius: radius) } catch { throw .fix(error) }
    }
}

extension LocalizationState {
    /// The venue with its data; nil while there is no data.
    var venue: Venue? {
        switch self {
        case .findFloor(let venue): venue
        case .localizationRunning(let running): running.venue
        case .idle, .started, .searchVenue, .getPacket, .error: nil
        }
    }

    /// The map that the device is on; nil while it is unknown.
    var mapID: MapID? {
        if case .localizationRunning(let running) = self { running.mapID } else { nil }
    }
}
