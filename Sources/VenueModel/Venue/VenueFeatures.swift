import IndoorVocabulary

/// A beacon of a venue with its place.
public struct VenueBeacon: Hashable, Sendable {
    /// The identity of the beacon.
    public var identity: BeaconIdentity
    /// The kind of name that the packet has for it.
    public var naming: BeaconNaming
    /// Its device address; nil if unknown.
    public var address: DeviceAddress?
    /// The map of the beacon.
    public var mapID: MapID
    /// The point on the map.
    public var point: MapPoint
    /// The height above the floor in metres; nil if unknown.
    public var z: Double?
    /// The signal strength at 1 m in dBm; nil if unknown.
    public var measuredPower: Double?
    /// The path-loss exponent (2 in free space); nil if unknown.
    public var pathLossExponent: Double?

    /// Creates a beacon from its parts without checking them.
    public init(
        identity: BeaconIdentity, naming: BeaconNaming = .uuid, address: DeviceAddress? = nil, mapID: MapID,
        point: MapPoint, z: Double? = nil, measuredPower: Double? = nil, pathLossExponent: Double? = nil
    ) {
        self.identity = identity
        self.naming = naming
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
    /// The inside of a polygon; the last point is connected to the first.
    case polygon([MapPoint])

    /// Returns whether a point is inside or, for a circle, on the edge. The time is linear in the number of corners.
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

/// A room. Its name labels the positions within it.
public struct Room: Hashable, Sendable {
    /// The ID of the room within its venue.
    public var id: Int
    /// The label of positions within the room.
    public var name: String
    /// The map of the room.
    public var mapID: MapID
    /// Its shape; nil if the room is known only from training.
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
    /// The ID within its venue.
    public var id: Int
    /// The display name.
    public var name: String
    /// A longer text; nil if there is none.
    public var description: String?
    /// The map.
    public var mapID: MapID
    /// The point on the map.
    public var point: MapPoint
    /// Custom content of the venue's owner.
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

/// A geofence of a venue, with events for entry and exit.
public struct Fence: Hashable, Sendable {
    /// The ID within its venue.
    public var id: Int
    /// The display name.
    public var name: String
    /// The map.
    public var mapID: MapID
    /// Its shape.
    public var area: Area
    /// How long after an exit the session doesn't report entry; nil for the session's `fenceTimeout`.
    public var timeout: Duration?
    /// How long the device must be outside before the session reports the exit, from 0 s; nil for the session's
    /// `areaDwell`.
    public var exitDelay: Duration?
    /// The distance in metres outside the area within which the device remains inside, from 0; nil means 0.
    public var exitMargin: Double?
    /// Custom content of the venue's owner.
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

/// The graph of walkable paths across all floors.
public struct PathGraph: Hashable, Sendable {
    /// A place where paths meet or end.
    public struct Node: Hashable, Sendable {
        /// The ID of the node within its graph.
        public var id: Int
        /// The map.
        public var mapID: MapID
        /// The point on the map.
        public var point: MapPoint

        /// Creates a node.
        public init(id: Int, mapID: MapID, point: MapPoint) {
            self.id = id
            self.mapID = mapID
            self.point = point
        }
    }

    /// A path between two nodes.
    public struct Edge: Hashable, Sendable {
        /// The kind of path.
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            /// Level ground.
            case walk
            /// Stairs, up or down.
            case stairs
            /// An elevator, up or down.
            case elevator
            /// An escalator; `isOneWay` specifies its direction.
            case escalator
        }

        /// The ID of the start node.
        public var from: Int
        /// The ID of the end node.
        public var to: Int
        /// The cost in equivalent metres of walking; nil for the length.
        public var weight: Double?
        /// The kind of path.
        public var kind: Kind
        /// Whether users can walk only in the direction from `from` to `to`.
        public var isOneWay: Bool
        /// The tags by which routes include or exclude the edge, such as "inaccessible".
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

    /// The places where paths meet or end.
    public var nodes: [Node]
    /// The paths between nodes.
    public var edges: [Edge]

    /// Creates a graph without checking it.
    public init(nodes: [Node], edges: [Edge]) {
        self.nodes = nodes
        self.edges = edges
    }
}

extension Area {
    /// The size of the area in m². Parts of a self-intersecting polygon can cancel each other.
    package var squareMeters: Double {
        switch self {
        case .circle(_, let radius):
            return .pi * radius * radius
        case .polygon(let corners):
            // Shoelace formula relative to the first corner, so that large coordinates lose no precision.
            guard let origin = corners.first, var previous = corners.last else { return 0 }
            var twice = 0.0
            for corner in corners {
                let (a, b) = (previous - origin, corner - origin)
                twice += a.x * b.y - b.x * a.y
                previous = corner
            }
            return abs(twice) / 2
        }
    }

    /// Returns the distance in metres from the area to a point; 0 inside the area and infinite for a polygon without
    /// corners. The time is linear in the number of corners.
    public func distance(to point: MapPoint) -> Double {
        switch self {
        case .circle(let center, let radius):
            return max(0, center.distance(to: point) - radius)
        case .polygon(let corners):
            guard !contains(point) else { return 0 }
            guard var previous = corners.last else { return .infinity }
            var nearest = Double.infinity
            for corner in corners {
                nearest = min(nearest, Self.distance(from: point, toLineFrom: previous, to: corner))
                previous = corner
            }
            return nearest
        }
    }

    /// Returns the distance between a point and a line segment.
    private static func distance(from point: MapPoint, toLineFrom start: MapPoint, to end: MapPoint) -> Double {
        let (along, offset) = (end - start, point - start)
        let squared = along.x * along.x + along.y * along.y
        guard squared > 0 else { return start.distance(to: point) }
        let share = min(max((offset.x * along.x + offset.y * along.y) / squared, 0), 1)
        return (start + along * share).distance(to: point)
    }
}
