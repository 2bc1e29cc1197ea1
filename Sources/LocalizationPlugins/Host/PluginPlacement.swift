import IndoorVocabulary
import LocalizationSession
import VenueModel

/// A place that a plugin puts the device to: where it is, on which map, and which way it faces, as far as known.
public struct PluginPlacement: Hashable, Sendable {
    /// The map; nil is the one that the device is on.
    public var mapID: MapID?
    /// Where on that map; nil if only the heading is known.
    public var place: FixPlace?
    /// Where the device faces, in degrees clockwise from the plan's top; nil leaves what is known of it.
    public var heading: Double?
    /// 68 % radius in metres, above 0.
    public var radius: Double

    /// Creates a placement.
    public init(mapID: MapID? = nil, place: FixPlace? = nil, heading: Double? = nil, radius: Double = 1) {
        self.mapID = mapID
        self.place = place
        self.heading = heading
        self.radius = radius
    }
}

/// Why a placement could not be made.
public enum PluginPlacementError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It has no map of its own, and it is not known which one the device is on.
    case noMap
    /// The place is in pixels or on Earth, and no venue is known yet that could tell where that is on a map.
    case noVenue(FixPlace)
    /// The venue that the device is in has no such map.
    case unknownMap(MapID, venue: VenueID)
    /// The place tells nothing.
    case fix(FixError)

    public var description: String {
        switch self {
        case .noMap: "it is not known on which map the device is; give the placement a map"
        case .noVenue(let place): "\(place) cannot be found on a map before a venue is known; give metres"
        case .unknownMap(let map, let venue): "venue \(venue) has no map \(map)"
        case .fix(let error): "\(error)"
        }
    }
}

extension PluginPlacement {
    /// The fix at this place; nil if it has none, but a heading at most.
    ///
    /// - Parameter state: of the session, which tells the venue and the map.
    package func fix(in state: LocalizationState) throws(PluginPlacementError) -> Fix? {
        guard let place else { return nil }
        guard let mapID = mapID ?? state.mapID else { throw .noMap }
        var map: VenueMap?
        if let venue = state.venue {
            guard let found = venue.map(mapID) else { throw .unknownMap(mapID, venue: venue.id) }
            map = found
        } else {
            guard case .point = place else { throw .noVenue(place) }
            // Metres need no more of a map than its number.
            map = VenueMap(id: mapID, name: "", level: 0, width: 1, height: 1)
        }
        do throws(FixError) { return try map?.fix(at: place, radius: radius) } catch { throw .fix(error) }
    }
}

extension LocalizationState {
    /// The venue with its data; nil while that is not there.
    var venue: Venue? {
        switch self {
        case .findFloor(let venue): venue
        case .localizationRunning(let running): running.venue
        case .idle, .started, .searchVenue, .getPacket, .error: nil
        }
    }

    /// The map that the device is on; nil while that is not known.
    var mapID: MapID? {
        if case .localizationRunning(let running) = self { running.mapID } else { nil }
    }
}
