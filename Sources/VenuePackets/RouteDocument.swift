import IndoorRouting
import IndoorVocabulary
import VenueModel

/// Why a route cannot be written or read as a document.
public enum RouteDocumentError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A map of the route does not tell how it lies on Earth.
    case notGeoreferenced(MapID)
    /// The document is no route; where, and what is wanted there.
    case unreadable(String)

    public var description: String {
        switch self {
        case .notGeoreferenced(let map):
            "a route is written in coordinates, and map \(map) has no georeference; give a center and bearing, or "
                + "controlPoints, in venue.json"
        case .unreadable(let problem): "the document is no route: \(problem)"
        }
    }
}

/// A route in coordinates, as IndoorAtlas writes routes.
///
///     {"legs":[{"begin":{"floor":0,"latitude":52.5,"longitude":13.4},"direction":90,"end":{…},"length":12.5}]}
public struct RouteDocument: Hashable, Sendable {
    /// A place on Earth and a floor.
    public struct Point: Hashable, Sendable {
        /// Where on Earth.
        public var coordinate: Coordinate
        /// Ordinal of the floor: 0 is the ground floor.
        public var floor: Int

        /// Creates a point.
        public init(coordinate: Coordinate, floor: Int) {
            self.coordinate = coordinate
            self.floor = floor
        }
    }

    /// A stretch in one direction.
    public struct Leg: Hashable, Sendable {
        /// Where it begins.
        public var begin: Point
        /// Where it ends.
        public var end: Point
        /// Metres to walk.
        public var length: Double
        /// Degrees clockwise from true north, in [0, 360).
        public var direction: Double

        /// Creates a leg.
        public init(begin: Point, end: Point, length: Double, direction: Double) {
            self.begin = begin
            self.end = end
            self.length = length
            self.direction = direction
        }
    }

    /// The stretches in order; empty if the goal is the start.
    public var legs: [Leg]

    /// Creates a document.
    public init(legs: [Leg]) { self.legs = legs }

    /// The document of a route through a venue.
    ///
    /// A leg straight up or down has the direction of the leg before it, and north at the beginning.
    /// - Throws: `RouteDocumentError.notGeoreferenced` for the first map that does not tell how it lies on Earth.
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

    /// Degrees from true north; nil if both are within a centimetre.
    private static func direction(from begin: Coordinate, to end: Coordinate) -> Double? {
        let offset = LocalTangentPlane(origin: begin).offset(of: end)
        // The course of a plan whose top points north, where y points down.
        let way = MapPoint(x: offset.east, y: -offset.north)
        return way.distance(to: MapPoint(x: 0, y: 0)) < 0.01 ? nil : way.course
    }
}

// As JSON.
extension RouteDocument {
    /// The document as JSON, in one line and without its end. Numbers that are not finite become texts.
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

    /// Reads a document; unknown fields are ignored.
    ///
    /// - Throws: `RouteDocumentError.unreadable` for the first thing that is wrong, with its path.
    public init(_ bytes: [UInt8]) throws(RouteDocumentError) {
        let root: JSONTree
        do throws(JSONSyntaxError) { root = try JSONTree(bytes) } catch { throw .unreadable(error.message) }
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
        guard coordinate.isValid else { throw .unreadable("\(path) is no place on Earth; give degrees") }
        guard let floor = Int(exactly: try number(fields["floor"], "\(path).floor")) else {
            throw .unreadable("\(path).floor is no whole number; give the floor's ordinal")
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
