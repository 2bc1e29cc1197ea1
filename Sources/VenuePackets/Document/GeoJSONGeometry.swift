import IndoorVocabulary
import TextFormats

/// A geometry in coordinates on Earth (RFC 7946, section 3.1).
package enum GeoJSONGeometry: Hashable, Sendable {
    /// The rings of one polygon without their repeated last position: the outline, then the holes.
    package typealias Polygon = [[Coordinate]]

    case point(Coordinate)
    case lines([[Coordinate]])
    case polygons([Polygon])

    package var polygons: [Polygon] { if case .polygons(let polygons) = self { polygons } else { [] } }
    package var lines: [[Coordinate]] { if case .lines(let lines) = self { lines } else { [] } }
    package var point: Coordinate? { if case .point(let point) = self { point } else { nil } }
}

extension VenueParser {
    /// Returns the geometry of an object with a type and coordinates; nil if part of it is invalid.
    package mutating func geometry(of object: JSONObject) -> GeoJSONGeometry? {
        guard let type = string("type", of: object, wanted: "the geometry's type") else { return nil }
        guard required("coordinates", of: object, wanted: "the geometry's coordinates"),
            let value = object["coordinates"]
        else { return nil }
        let path = object.path(of: "coordinates")
        switch type {
        case "Point": return coordinate(value, at: path).map { .point($0) }
        case "LineString": return line(value, at: path, leastCount: 2).map { .lines([$0]) }
        case "MultiLineString":
            return all(value, at: path) { $0.line($1, at: $2, leastCount: 2) }.map { .lines($0) }
        case "Polygon": return rings(value, at: path).map { .polygons([$0]) }
        case "MultiPolygon": return all(value, at: path) { $0.rings($1, at: $2) }.map { .polygons($0) }
        default:
            report(
                .error, object.path(of: "type"),
                "is \"\(type)\"; give Point, LineString, MultiLineString, Polygon or MultiPolygon")
            return nil
        }
    }

    /// Returns all entries of a nonempty array; nil if an entry is invalid.
    private mutating func all<Value>(
        _ value: JSONTree, at path: String, _ read: (inout VenueParser, JSONTree, String) -> Value?
    ) -> [Value]? {
        guard let entries = array(value, at: path) else { return nil }
        guard !entries.isEmpty else {
            report(.error, path, "is empty; give coordinates")
            return nil
        }
        var values: [Value] = []
        for (entry, path) in entries {
            if let value = read(&self, entry, path) { values.append(value) }
        }
        return values.count == entries.count ? values : nil
    }

    private mutating func rings(_ value: JSONTree, at path: String) -> [[Coordinate]]? {
        all(value, at: path) { parser, value, path in
            // Four positions: three corners, and the first corner again (RFC 7946, section 3.1.6).
            guard var ring = parser.line(value, at: path, leastCount: 4) else { return nil }
            guard ring.first == ring.last else {
                parser.report(.error, path, "is not closed; repeat its first position at its end")
                return nil
            }
            ring.removeLast()
            return ring
        }
    }

    private mutating func line(_ value: JSONTree, at path: String, leastCount: Int) -> [Coordinate]? {
        guard let line = all(value, at: path, { $0.coordinate($1, at: $2) }) else { return nil }
        guard line.count >= leastCount else {
            report(.error, path, "has \(line.count) positions; give \(leastCount) or more")
            return nil
        }
        return line
    }

    /// Returns the position of longitude, latitude and an optional altitude, which is ignored.
    private mutating func coordinate(_ value: JSONTree, at path: String) -> Coordinate? {
        guard case .array(let numbers) = value, numbers.count >= 2 else {
            report(.error, path, "is \(value.summary); give [longitude, latitude]")
            return nil
        }
        let longitude = number(numbers[0], at: path + "[0]", .longitude)
        let latitude = number(numbers[1], at: path + "[1]", .latitude)
        guard let longitude, let latitude else { return nil }
        return Coordinate(latitude: latitude, longitude: longitude)
    }
}
