import IndoorVocabulary

/// A transmitter and its place.
public struct VenueBeacon: Hashable, Sendable {
    /// Which transmitter.
    public var identity: BeaconIdentity
    /// Its device address; nil if unknown.
    public var address: DeviceAddress?
    /// The map that it is mounted on.
    public var mapID: MapID
    /// Where on that map.
    public var point: MapPoint
    /// Metres above that floor; nil if unknown.
    public var z: Double?
    /// Signal strength at 1 m in dBm; nil if unknown.
    public var measuredPower: Double?
    /// How fast the signal falls with distance (2 in free space); nil if unknown.
    public var pathLossExponent: Double?

    /// Creates a beacon from its parts, unchecked.
    public init(
        identity: BeaconIdentity, address: DeviceAddress? = nil, mapID: MapID, point: MapPoint, z: Double? = nil,
        measuredPower: Double? = nil, pathLossExponent: Double? = nil
    ) {
        self.identity = identity
        self.address = address
        self.mapID = mapID
        self.point = point
        self.z = z
        self.measuredPower = measuredPower
        self.pathLossExponent = pathLossExponent
    }
}

/// An area of a map.
public enum Area: Hashable, Sendable {
    /// All points within `radius` metres of `center`.
    case circle(center: MapPoint, radius: Double)
    /// The inside of a closed line; the last point is joined to the first.
    case polygon([MapPoint])

    /// Whether the point lies inside or, for a circle, on the edge. Linear in the number of corners.
    public func contains(_ point: MapPoint) -> Bool {
        switch self {
        case .circle(let center, let radius):
            return center.distance(to: point) <= radius
        case .polygon(let corners):
            // Even-odd rule: a ray to the right crosses the outline an odd number of times.
            guard var previous = corners.last else { return false }
            var inside = false
            for corner in corners {
                if (corner.y > point.y) != (previous.y > point.y),
                    point.x < (previous.x - corner.x) * (point.y - corner.y) / (previous.y - corner.y) + corner.x
                {
                    inside.toggle()
                }
                previous = corner
            }
            return inside
        }
    }
}

/// A named area; its name labels the positions within it.
public struct Room: Hashable, Sendable {
    /// The number that names the room within its venue.
    public var id: Int
    /// The label of positions within the room.
    public var name: String
    /// The map that the room lies on.
    public var mapID: MapID
    /// Its shape; nil if the room is known by training only.
    public var area: Area?

    /// Creates a room.
    public init(id: Int, name: String, mapID: MapID, area: Area? = nil) {
        self.id = id
        self.name = name
        self.mapID = mapID
        self.area = area
    }
}

/// A point of interest.
public struct PointOfInterest: Hashable, Sendable {
    /// The number that names it within its venue.
    public var id: Int
    /// The name for people.
    public var name: String
    /// A longer text; nil if there is none.
    public var description: String?
    /// The map that it lies on.
    public var mapID: MapID
    /// Where on that map.
    public var point: MapPoint
    /// Any content of the venue's owner.
    public var payload: JSONValue?

    /// Creates a point of interest.
    public init(
        id: Int, name: String, description: String? = nil, mapID: MapID, point: MapPoint, payload: JSONValue? = nil
    ) {
        self.id = id
        self.name = name
        self.description = description
        self.mapID = mapID
        self.point = point
        self.payload = payload
    }
}

/// A geofence: entering and leaving it are events.
public struct Fence: Hashable, Sendable {
    /// The number that names it within its venue.
    public var id: Int
    /// The name for people.
    public var name: String
    /// The map that it lies on.
    public var mapID: MapID
    /// Its shape.
    public var area: Area
    /// After an exit, entering again is silent for this long; nil means no hold-off.
    public var timeout: Duration?
    /// How long the device must be outside before the exit is told, from 0 s; nil means the session's dwell.
    public var exitDelay: Duration?
    /// How far outside a device that is in still counts as in, in metres from 0; nil means 0.
    public var exitMargin: Double?
    /// Any content of the venue's owner.
    public var payload: JSONValue?

    /// Creates a fence.
    public init(
        id: Int, name: String, mapID: MapID, area: Area, timeout: Duration? = nil, exitDelay: Duration? = nil,
        exitMargin: Double? = nil, payload: JSONValue? = nil
    ) {
        self.id = id
        self.name = name
        self.mapID = mapID
        self.area = area
        self.timeout = timeout
        self.exitDelay = exitDelay
        self.exitMargin = exitMargin
        self.payload = payload
    }
}

/// The graph of walkable ways, across floors.
public struct PathGraph: Hashable, Sendable {
    /// A place where ways meet or end.
    public struct Node: Hashable, Sendable {
        /// The number that names the node within its graph.
        public var id: Int
        /// The map that it lies on.
        public var mapID: MapID
        /// Where on that map.
        public var point: MapPoint

        /// Creates a node.
        public init(id: Int, mapID: MapID, point: MapPoint) {
            self.id = id
            self.mapID = mapID
            self.point = point
        }
    }

    /// A way between two nodes.
    public struct Edge: Hashable, Sendable {
        /// What one walks on.
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            /// Level ground.
            case walk
            /// Stairs, up or down.
            case stairs
            /// An elevator, up or down.
            case elevator
            /// An escalator; which way it runs is told by `isOneWay`.
            case escalator
        }

        /// Where it begins.
        public var from: Int
        /// Where it ends.
        public var to: Int
        /// What it costs, in metres of walking; nil means its length.
        public var weight: Double?
        /// What one walks on.
        public var kind: Kind
        /// Whether it can only be walked from `from` to `to`.
        public var isOneWay: Bool
        /// Words by which routes include or exclude it, as in "inaccessible".
        public var tags: Set<String>

        /// Creates an edge.
        public init(
            from: Int, to: Int, weight: Double? = nil, kind: Kind = .walk, isOneWay: Bool = false,
            tags: Set<String> = []
        ) {
            self.from = from
            self.to = to
            self.weight = weight
            self.kind = kind
            self.isOneWay = isOneWay
            self.tags = tags
        }
    }

    /// Where ways meet or end.
    public var nodes: [Node]
    /// The ways.
    public var edges: [Edge]

    /// Creates a graph, unchecked.
    public init(nodes: [Node], edges: [Edge]) {
        self.nodes = nodes
        self.edges = edges
    }
}
