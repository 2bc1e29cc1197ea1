import IndoorVocabulary
import TextFormats
import VenueModel

/// Reads identifiers, points and areas, which many kinds of entries have.
extension VenueParser {
    /// Returns the entry's number; reports a problem if another entry has the same number.
    mutating func uniqueID(of entry: JSONObject, among seen: inout [Int: String]) -> Int? {
        guard let id = integer("id", of: entry, .identifier) else { return nil }
        if let other = seen.updateValue(entry.path, forKey: id) {
            seen[id] = other
            report(.error, entry.path(of: "id"), "\(id) is already the id of \(other); give each its own number")
        }
        return id
    }

    /// Returns the map of an entry; reports a problem if the venue doesn't have that map.
    mutating func mapID(of entry: JSONObject) -> MapID? {
        guard let number = integer("mapId", of: entry, .identifier) else { return nil }
        let id = MapID(rawValue: number)
        guard mapIDs.contains(id) else {
            report(.error, entry.path(of: "mapId"), "there is no map \(number); give the id of one of the maps")
            return nil
        }
        return id
    }

    mutating func point(of entry: JSONObject) -> MapPoint? {
        let x = number("x", of: entry, .position)
        let y = number("y", of: entry, .position)
        guard let x, let y else { return nil }
        return MapPoint(x: x, y: y)
    }

    /// Returns the shape of an entry, a polygon or a circle; nil if it is absent or invalid.
    mutating func area(of entry: JSONObject) -> Area? {
        if let value = entry["polygon"] {
            if entry["x"] != nil || entry["y"] != nil || entry["radius"] != nil {
                report(.warning, entry.path, "has a polygon and a circle; the circle is not used, remove one of them")
            }
            return polygon(value, at: entry.path(of: "polygon")).map { .polygon($0) }
        }
        guard entry["x"] != nil || entry["y"] != nil || entry["radius"] != nil else { return nil }
        let center = point(of: entry)
        let radius = number("radius", of: entry, .length)
        guard let center, let radius else { return nil }
        return .circle(center: center, radius: radius)
    }

    /// Returns the corners of a polygon; reports a problem if it doesn't enclose one simple area.
    mutating func polygon(_ value: JSONTree, at path: String) -> [MapPoint]? {
        guard let corners = points(value, at: path) else { return nil }
        guard corners.count <= InputLimits.standard.corners else {
            report(.error, path, "has \(corners.count) corners; simplify it to \(InputLimits.standard.corners) at most")
            return nil
        }
        cornerSquares += corners.count * corners.count
        guard cornerSquares <= limits.cornerSquares else {
            report(.error, path, "has, with the polygons before it, too many corners to be checked; simplify them")
            return nil
        }
        if let defect = PolygonDefect(in: corners) {
            report(.error, path, "\(defect); give 3 or more corners in order around the area")
            return nil
        }
        return corners
    }

    /// Returns the points of an array of `[x, y]`; nil if one is invalid.
    mutating func points(_ value: JSONTree, at path: String) -> [MapPoint]? {
        guard let entries = array(value, at: path) else { return nil }
        var points: [MapPoint] = []
        points.reserveCapacity(entries.count)
        for (entry, path) in entries {
            guard case .array(let numbers) = entry, numbers.count == 2 else {
                let found = if case .array(let numbers) = entry { "\(numbers.count) values" } else { entry.summary }
                report(.error, path, "is \(found); give [x, y] in metres")
                continue
            }
            let x = number(numbers[0], at: "\(path)[0]", .position)
            let y = number(numbers[1], at: "\(path)[1]", .position)
            if let x, let y { points.append(MapPoint(x: x, y: y)) }
        }
        return points.count == entries.count ? points : nil
    }

    /// Warns of a point outside its map. Real buildings have some, but most are in the wrong frame or unit.
    mutating func checkInside(_ point: MapPoint, of map: MapID, at path: String, kind: String) {
        guard let map = maps[map] else { return }
        guard !(0...map.width).contains(point.x) || !(0...map.height).contains(point.y) else { return }
        report(
            .warning, path,
            "the \(kind) at x \(point.x), y \(point.y) lies outside its map of \(map.width) × \(map.height) m; "
                + "check that x and y are metres from the plan's top-left corner")
    }

    /// Warns of an area whose centre, or whose corners all lie outside its map.
    mutating func checkInside(_ area: Area, of map: MapID, at path: String, kind: String) {
        switch area {
        case .circle(let center, _):
            checkInside(center, of: map, at: path, kind: kind)
        case .polygon(let corners):
            guard let size = maps[map], let first = corners.first else { return }
            let touchesPlan = corners.contains {
                (0...size.width).contains($0.x) && (0...size.height).contains($0.y)
            }
            if !touchesPlan, !area.contains(MapPoint(x: size.width / 2, y: size.height / 2)) {
                checkInside(first, of: map, at: path, kind: kind)
            }
        }
    }
}
