import IndoorVocabulary
import TextFormats
import VenueModel
import VenuePackets

/// The meaning of a way or a multipolygon for an indoor map.
///
/// Source: the page *Simple Indoor Tagging* of the OpenStreetMap Wiki.
enum OSMKind: Hashable, Sendable {
    /// A space, with its category in IMDF.
    case space(String)
    /// The outline of a level.
    case level
    /// A wall, drawn as a line.
    case wall
    /// Solid matter, drawn as an area.
    case solid
    /// Stairs or an escalator, drawn as a line from one level to the next.
    case steps
    /// An opening, drawn as a line.
    case door
    /// An opening, drawn as the area of the door in the wall.
    case doorArea
    /// The outline of a building.
    case building
    /// A part that a packet doesn't need or can't contain, with the reason.
    case leftOut(String)

    /// Returns the kind of an element; nil if it isn't part of an indoor map.
    init?(_ element: OSMElement) {
        let isArea = element.kind == .relation ? element.has("type", "multipolygon") : element.isClosed
        if isArea, element.has("highway", "elevator") || element.has("room", "elevator") {
            self = .space("elevator")
        } else if isArea, element.has("indoor", "room", "area", "corridor"),
            element.has("stairs", "yes") || element.has("room", "stairs")
        {
            self = .space(element.isEscalator ? "escalator" : "stairs")
        } else if element.has("highway", "steps"), element.kind == .way, element.tags["level"] != nil {
            self = isArea && element.has("area", "yes") ? .space("stairs") : .steps
        } else if element.kind == .way, !isArea, element.isDoor {
            self = .door
        } else if isArea, element.isDoor, element.tags["building"] == nil,
            ["door", "yes", nil].contains(element.tags["indoor"])
        {
            self = .doorArea
        } else {
            self.init(indoor: element, isArea: isArea)
        }
    }

    private init?(indoor element: OSMElement, isArea: Bool) {
        switch element.tags["indoor"] {
        case "room": self = .space("room")
        case "area": self = .space("unenclosedarea")
        case "corridor" where isArea: self = .space("walkway")
        case "corridor":
            self = .leftOut("it is a corridor without width; draw it as an area")
        case "level": self = .level
        case "wall": self = isArea && element.has("area", "yes") || element.kind == .relation ? .solid : .wall
        case "column", "pillar": self = .solid
        case "yes",
            "pathway" where element.tags["highway"] != nil:
            self = .leftOut("it is a drawn path; paths are computed from the spaces, their walls and their doors")
        default:
            if let building = element.tags["building"], building != "no", isArea {
                self = .building
            } else if let value = element.tags["indoor"], value != "no" {
                self = .leftOut("indoor=\(value) is no kind of space, wall or door that an import knows")
            } else if element.tags["level"] != nil {
                self = .leftOut("it has a level, but no tag indoor: the part of the map that it is isn't known")
            } else {
                return nil
            }
        }
    }
}

extension OSMElement {
    /// Whether the element is an opening in a wall.
    var isDoor: Bool {
        if let door = tags["door"] { return door != "no" }
        return tags["entrance"].map { $0 != "no" } ?? false || has("indoor", "door")
    }

    /// Whether stairs move.
    var isEscalator: Bool { tags["conveying"].map { $0 != "no" } ?? false }

    /// Whether the public may not enter.
    var isPrivate: Bool { has("access", "private", "no") }

    /// The purpose of a place in words, from the tag that states it, such as `meeting room`; nil without one.
    var purpose: String? {
        for key in [
            "room", "amenity", "shop", "tourism", "office", "healthcare", "leisure", "craft", "information",
            "emergency", "man_made",
        ] {
            if let value = tags[key], !["yes", "no", ""].contains(value) {
                return value.map { $0 == "_" ? " " : String($0) }.joined()
            }
        }
        return tags["shop"] == nil ? nil : "shop"
    }

    /// The name in each language, with the value of the tag `name` under an empty language tag; nil if there is none.
    var label: JSONTree? {
        var texts: [String: JSONTree] = [:]
        for (key, value) in tags where !value.isEmpty {
            if key == "name" { texts[""] = .string(value) }
            guard key.hasPrefix("name:") else { continue }
            let language = key.dropFirst(5)
            // Other keys begin with `name:` too, such as name:etymology.
            if (2...3).contains(language.prefix { $0 != "-" }.count) { texts[String(language)] = .string(value) }
        }
        return texts.isEmpty ? nil : .object(texts)
    }
}

/// The levels of an element, from its tags `level` and `repeat_on`.
///
/// Source of the syntax: the pages *Key:level* and *Key:repeat_on* of the OpenStreetMap Wiki: numbers separated by
/// semicolons, and ranges such as `0-3` and `-2--1`. A plus sign before a number, which the pages don't have, can only
/// mean the number.
struct OSMLevels: Hashable, Sendable {
    /// The whole levels, the lowest first.
    private(set) var whole: [Int] = []
    /// Whether a level lies between two whole ones, such as 0.5.
    private(set) var hasFraction = false

    /// The lowest and the highest level that a packet can have.
    static let range = -1_000...1_000

    /// Reads the value of a tag; nil if it isn't a list of levels.
    init?(_ text: String) {
        var levels: Set<Int> = []
        for part in text.split(separator: ";", omittingEmptySubsequences: false) {
            let item = part.filter { $0 != " " }
            // The sign of the first number doesn't separate two numbers.
            let dash = item.dropFirst().firstIndex(of: "-")
            let first = Self.number(dash.map { item[..<$0] } ?? item[...])
            let last = dash.map { Self.number(item[item.index(after: $0)...]) } ?? first
            guard let first, let last, first <= last else { return nil }
            let (low, high) = (Int(first.rounded(.up)), Int(last.rounded(.down)))
            if low <= high { levels.formUnion(low...high) }
            if first != first.rounded() || last != last.rounded() { hasFraction = true }
        }
        whole = levels.sorted()
    }

    private static func number(_ text: Substring) -> Double? {
        guard text.utf8.allSatisfy({ "+-.0123456789".utf8.contains($0) }), let number = Double(text),
            number >= Double(range.lowerBound), number <= Double(range.upperBound)
        else { return nil }
        return number
    }

    /// Adds the levels of another tag.
    func union(_ other: OSMLevels) -> OSMLevels {
        var sum = self
        sum.whole = Set(whole + other.whole).sorted()
        sum.hasFraction = hasFraction || other.hasFraction
        return sum
    }
}

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

    /// Returns the middle line of an area along its longer side, and the lengths of both sides in metres.
    ///
    /// The sides are those of the smallest rectangle around the area in the direction of its longest edge.
    static func axis(of ring: [Coordinate]) -> (line: [Coordinate], length: Double, depth: Double)? {
        guard let origin = ring.first else { return nil }
        let plane = LocalTangentPlane(origin: origin)
        let points = ring.map { place in
            let offset = plane.offset(of: place)
            return MapPoint(x: offset.east, y: offset.north)
        }
        let edges = zip(points, points.dropFirst() + points.prefix(1))
        guard let edge = edges.max(by: { $0.0.distance(to: $0.1) < $1.0.distance(to: $1.1) }) else { return nil }
        let length = edge.0.distance(to: edge.1)
        guard length > 0 else { return nil }
        var (x, y) = ((edge.1.x - edge.0.x) / length, (edge.1.y - edge.0.y) / length)
        func range(_ x: Double, _ y: Double) -> (low: Double, high: Double) {
            let all = points.map { $0.x * x + $0.y * y }
            return (all.min() ?? 0, all.max() ?? 0)
        }
        var (along, across) = (range(x, y), range(-y, x))
        if across.high - across.low > along.high - along.low {
            (x, y) = (-y, x)
            (along, across) = (range(x, y), range(-y, x))
        }
        let middle = (across.low + across.high) / 2
        let line = [along.low, along.high].map { place in
            plane.coordinate(east: place * x - middle * y, north: place * y + middle * x)
        }
        return (line, along.high - along.low, across.high - across.low)
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
