import IndoorRouting
import IndoorVocabulary
import TextFormats
import VenueModel
import VenuePackets

/// A route that cannot be written or read as a document.
public enum RouteDocumentError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A map of the route has no georeference.
    case notGeoreferenced(MapID)
    /// The document isn't a route; the text names the location and the expected value.
    case unreadable(String)

    public var description: String {
        switch self {
        case .notGeoreferenced(let map):
            "a route document requires coordinates, but map \(map) has no georeference; give a center and bearing, or "
                + "controlPoints, in venue.json"
        case .unreadable(let problem): "the document is not a route: \(problem)"
        }
    }
}

/// A route in coordinates, in the format of IndoorAtlas.
///
///     {"legs":[{"begin":{"floor":0,"latitude":52.5,"longitude":13.4},"direction":90,"end":{…},"length":12.5}]}
public struct RouteDocument: Hashable, Sendable {
    /// A coordinate and a floor.
    public struct Point: Hashable, Sendable {
        /// The coordinate on Earth.
        public var coordinate: Coordinate
        /// The ordinal of the floor: 0 is the ground floor.
        public var floor: Int

        /// Creates a point.
        package init(coordinate: Coordinate, floor: Int) {
            self.coordinate = coordinate
            self.floor = floor
        }
    }

    /// A straight section of a route.
    public struct Leg: Hashable, Sendable {
        /// The start.
        public var begin: Point
        /// The end.
        public var end: Point
        /// The walking distance in metres.
        public var length: Double
        /// Degrees clockwise from true north, in [0, 360).
        public var direction: Double

        /// Creates a leg.
        package init(begin: Point, end: Point, length: Double, direction: Double) {
            self.begin = begin
            self.end = end
            self.length = length
            self.direction = direction
        }
    }

    /// The legs in order; empty if the goal is the start.
    public var legs: [Leg]

    /// Creates a document.
    package init(legs: [Leg]) { self.legs = legs }

    /// Creates the document of a route through a venue.
    ///
    /// A vertical leg has the direction of the leg before it, or north if it is the first.
    /// - Throws: `RouteDocumentError.notGeoreferenced` for the first map without a georeference.
    public init(_ route: Route, in venue: Venue) throws(RouteDocumentError) {
        var transforms: [MapID: (transform: GeoTransform, level: Int)] = [:]
        func point(_ place: RoutePoint) throws(RouteDocumentError) -> Point {
            if transforms[place.mapID] == nil, let map = venue.map(place.mapID),
                let transform = try? map.geoTransform()
            {
                transforms[place.mapID] = (transform, map.level)
            }
            guard let known = transforms[place.mapID] else { throw .notGeoreferenced(place.mapID) }
            return Point(coordinate: known.transform.coordinate(at: place.point), floor: known.level)
        }
        var direction = 0.0
        var legs: [Leg] = []
        for leg in route.legs {
            let (begin, end) = (try point(leg.begin), try point(leg.end))
            direction = Self.direction(from: begin.coordinate, to: end.coordinate) ?? direction
            legs.append(Leg(begin: begin, end: end, length: leg.length, direction: direction))
        }
        self.legs = legs
    }

    /// Returns degrees from true north; nil if the two coordinates are within a centimetre.
    private static func direction(from begin: Coordinate, to end: Coordinate) -> Double? {
        let offset = LocalTangentPlane(origin: begin).offset(of: end)
        // The course on a plan whose top points north, with y pointing down.
        let segment = MapPoint(x: offset.east, y: -offset.north)
        return segment.distance(to: MapPoint(x: 0, y: 0)) < 0.01 ? nil : segment.course
    }
}

// JSON.
extension RouteDocument {
    /// The document as JSON in one line without a line break. Numbers that are not finite are written as strings.
    public var bytes: [UInt8] {
        func tree(_ point: Point) -> JSONTree {
            .object([
                "latitude": .number(point.coordinate.latitude), "longitude": .number(point.coordinate.longitude),
                "floor": .number(Double(point.floor)),
            ])
        }
        let legs = legs.map { leg in
            JSONTree.object([
                "begin": tree(leg.begin), "end": tree(leg.end), "length": .number(leg.length),
                "direction": .number(leg.direction),
            ])
        }
        return JSONTree.object(["legs": .array(legs)]).line()
    }

    /// Parses a document; unknown fields are ignored.
    ///
    /// - Throws: `RouteDocumentError.unreadable` for the first problem, with its path.
    public init(_ bytes: [UInt8]) throws(RouteDocumentError) {
        let root: JSONTree
        do throws(JSONDocumentError) { root = try JSONTree(bytes) } catch { throw .unreadable(error.message) }
        guard case .object(let fields) = root, case .array(let trees)? = fields["legs"] else {
            throw .unreadable("$.legs is missing; give an array of legs")
        }
        var legs: [Leg] = []
        for (index, tree) in trees.enumerated() { legs.append(try Self.leg(tree, "$.legs[\(index)]")) }
        self.legs = legs
    }

    private static func leg(_ tree: JSONTree, _ path: String) throws(RouteDocumentError) -> Leg {
        guard case .object(let fields) = tree else { throw .unreadable("\(path) is \(tree.summary); give an object") }
        return Leg(
            begin: try point(fields["begin"], "\(path).begin"), end: try point(fields["end"], "\(path).end"),
            length: try number(fields["length"], "\(path).length"),
            direction: try number(fields["direction"], "\(path).direction"))
    }

    private static func point(_ tree: JSONTree?, _ path: String) throws(RouteDocumentError) -> Point {
        guard case .object(let fields)? = tree else { throw .unreadable("\(path) is missing; give an object") }
        let coordinate = Coordinate(
            latitude: try number(fields["latitude"], "\(path).latitude"),
            longitude: try number(fields["longitude"], "\(path).longitude"))
        guard coordinate.isValid else { throw .unreadable("\(path) is not a coordinate on Earth; give degrees") }
        guard let floor = Int(exactly: try number(fields["floor"], "\(path).floor")) else {
            throw .unreadable("\(path).floor is not a whole number; give the floor's ordinal")
        }
        return Point(coordinate: coordinate, floor: floor)
    }

    private static func number(_ tree: JSONTree?, _ path: String) throws(RouteDocumentError) -> Double {
        guard case .number(let value)? = tree else {
            throw .unreadable("\(path) is \(tree?.summary ?? "missing"); give a number")
        }
        return value
    }
}
