import IndoorVocabulary

/// A venue, with the content of its packet.
public struct Venue: Hashable, Sendable {
    /// The ID of the venue.
    public var id: VenueID
    /// The display name.
    public var name: String
    /// The version, which increases with each edition of the packet.
    public var version: Int
    /// The venue's centre; nil if it is not georeferenced.
    public var coordinate: Coordinate?
    /// The radius in metres around `coordinate` that contains the venue; nil if unknown.
    public var radius: Double?
    /// The floor plans, one per floor.
    public var maps: [VenueMap]
    /// The beacons with a known place.
    public var beacons: [VenueBeacon]
    /// The fixed receivers, which receive tags. A session of a device ignores them.
    public var receivers: [VenueReceiver]
    /// The anchors, to which a device can measure its distance.
    public var anchors: [VenueAnchor]
    /// The rooms. The name of a room labels the positions within it.
    public var rooms: [Room]
    /// The points of interest.
    public var pointsOfInterest: [PointOfInterest]
    /// The geofences.
    public var fences: [Fence]
    /// The interactions with beacons and places.
    public var interactions: [Interaction]
    /// The graph of walkable paths; nil if there is none.
    public var paths: PathGraph?
    /// The settings of this venue as written in its packet, with dotted, nested or mixed keys.
    public var settings: [String: JSONValue]
    /// The radio map from a survey; nil if there is none.
    public var radioMap: RadioMap?

    /// Creates a venue from its parts without checking them.
    public init(
        id: VenueID, name: String, version: Int = 1, coordinate: Coordinate? = nil, radius: Double? = nil,
        maps: [VenueMap], beacons: [VenueBeacon] = [], receivers: [VenueReceiver] = [],
        anchors: [VenueAnchor] = [], rooms: [Room] = [], pointsOfInterest: [PointOfInterest] = [], fences: [Fence] = [],
        interactions: [Interaction] = [],
        paths: PathGraph? = nil, settings: [String: JSONValue] = [:], radioMap: RadioMap? = nil
    ) {
        self.id = id
        self.name = name
        self.version = version
        self.coordinate = coordinate
        self.radius = radius
        self.maps = maps
        self.beacons = beacons
        self.receivers = receivers
        self.anchors = anchors
        self.rooms = rooms
        self.pointsOfInterest = pointsOfInterest
        self.fences = fences
        self.interactions = interactions
        self.paths = paths
        self.settings = settings
        self.radioMap = radioMap
    }

    /// Returns the map with an ID; nil if the venue doesn't have it. The time is linear in the number of maps.
    public func map(_ id: MapID) -> VenueMap? { maps.first { $0.id == id } }
}

/// A short description, for printed states and errors that contain a venue.
extension Venue: CustomStringConvertible {
    /// The name, ID and version. Use `dump` for the full content.
    public var description: String { "\(name) (venue \(id), version \(version))" }
}

// The content of a venue on one of its maps. The result is empty for an unknown map.
extension Venue {
    /// Returns the rooms of a map in the order of the packet, including those without a shape.
    public func rooms(on map: MapID) -> [Room] { rooms.filter { $0.mapID == map } }

    /// Returns the geofences of a map in the order of the packet.
    public func fences(on map: MapID) -> [Fence] { fences.filter { $0.mapID == map } }

    /// Returns the beacons of a map in the order of the packet.
    public func beacons(on map: MapID) -> [VenueBeacon] { beacons.filter { $0.mapID == map } }

    /// Returns the points of interest of a map in the order of the packet.
    public func pointsOfInterest(on map: MapID) -> [PointOfInterest] { pointsOfInterest.filter { $0.mapID == map } }

    /// Returns the nodes of the path graph on a map in the order of the packet.
    public func pathNodes(on map: MapID) -> [PathGraph.Node] { paths?.nodes.filter { $0.mapID == map } ?? [] }

    /// Returns the control points of a map; empty for a map with a centre and bearing.
    public func controlPoints(on map: MapID) -> [Georeference.ControlPoint] {
        guard case .controlPoints(let points) = self.map(map)?.georeference else { return [] }
        return points
    }
}
