import IndoorVocabulary
import VenueModel

/// The shapes of ways and multipolygons.
struct OSMShapes: Sendable {
    /// A reason why an element has no shape, in the words of a message.
    struct Problem: Error, Hashable { let message: String }

    let document: OSMDocument

    /// Returns the coordinates of nodes.
    func coordinates(of nodes: [Int64]) throws(Problem) -> [Coordinate] {
        var places: [Coordinate] = []
        for id in nodes {
            guard let place = document.nodes[id]?.coordinate else {
                throw Problem(message: "its node \(id) is not in the file; extract the file with all nodes of its ways")
            }
            places.append(place)
        }
        return places
    }

    /// Returns the rings of an area, in nodes: one for a way; all those of its members for a multipolygon.
    func rings(of element: OSMElement) throws(Problem) -> (outer: [[Int64]], inner: [[Int64]]) {
        guard element.kind == .relation else {
            guard element.isClosed else {
                throw Problem(message: "its outline is not closed; end the way at its first node")
            }
            return ([Array(element.nodes.dropLast())], [])
        }
        var ways: (outer: [[Int64]], inner: [[Int64]]) = ([], [])
        for member in element.members where member.kind == .way {
            guard let way = document.ways[member.id] else {
                throw Problem(
                    message:
                        "its way \(member.id) is not in the file; extract the file with all members of its relations")
            }
            if member.role == "inner" { ways.inner.append(way.nodes) } else { ways.outer.append(way.nodes) }
        }
        guard let outer = Self.join(ways.outer), let inner = Self.join(ways.inner), !outer.isEmpty else {
            throw Problem(message: "its ways do not form closed rings; connect them end to end")
        }
        return (outer, inner)
    }

    /// Returns the polygons of an area.
    func polygons(of element: OSMElement) throws(Problem) -> [GeoJSONGeometry.Polygon] {
        let rings = try rings(of: element)
        var polygons: [GeoJSONGeometry.Polygon] = []
        for ring in rings.outer { polygons.append([try coordinates(of: ring)]) }
        for ring in rings.inner {
            let hole = try coordinates(of: ring)
            let owner = polygons.firstIndex { polygon in
                polygon.first.map { outer in hole.contains { Self.contains($0, outer) } } ?? false
            }
            polygons[owner ?? 0].append(hole)
        }
        return polygons
    }

    /// Joins ways at their ends to rings, without repeating the first node; nil if a ring stays open.
    private static func join(_ ways: [[Int64]]) -> [[Int64]]? {
        var rest = ways.filter { $0.count > 1 }
        var rings: [[Int64]] = []
        while var ring = rest.popLast() {
            while ring.first != ring.last {
                guard let next = rest.firstIndex(where: { $0.first == ring.last || $0.last == ring.last }) else {
                    return nil
                }
                let way = rest.remove(at: next)
                ring += (way.first == ring.last ? way : way.reversed()).dropFirst()
            }
            guard ring.count > 3 else { return nil }
            rings.append(Array(ring.dropLast()))
        }
        return rings.reversed()
    }

    /// Returns whether a ring contains a place, by the even-odd rule; a building is small, so degrees are a plane.
    static func contains(_ place: Coordinate, _ ring: [Coordinate]) -> Bool {
        guard var previous = ring.last else { return false }
        var isInside = false
        for corner in ring {
            if (corner.latitude > place.latitude) != (previous.latitude > place.latitude),
                place.longitude < (previous.longitude - corner.longitude) * (place.latitude - corner.latitude)
                    / (previous.latitude - corner.latitude) + corner.longitude
            {
                isInside.toggle()
            }
            previous = corner
        }
        return isInside
    }
}

/// A rectangle of degrees.
struct OSMBox: Sendable {
    private let south: Double
    private let west: Double
    private let north: Double
    private let east: Double

    /// Creates the smallest box around the places; an empty one contains nothing.
    init(around places: some Sequence<Coordinate>) {
        var (south, west, north, east) = (90.0, 180.0, -90.0, -180.0)
        for place in places {
            (south, north) = (min(south, place.latitude), max(north, place.latitude))
            (west, east) = (min(west, place.longitude), max(east, place.longitude))
        }
        (self.south, self.west, self.north, self.east) = (south, west, north, east)
    }

    /// Returns whether a place is in the box, or within `margin` degrees of it.
    func contains(_ place: Coordinate, margin: Double = 0) -> Bool {
        place.latitude >= south - margin && place.latitude <= north + margin && place.longitude >= west - margin
            && place.longitude <= east + margin
    }

    /// The corners, counterclockwise.
    var ring: [Coordinate] {
        [(south, west), (south, east), (north, east), (north, west)].map { Coordinate(latitude: $0, longitude: $1) }
    }
}
