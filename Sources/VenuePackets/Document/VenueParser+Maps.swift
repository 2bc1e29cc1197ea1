import IndoorVocabulary
import VenueModel

extension VenueParser {
    mutating func maps(of root: JSONObject) -> [VenueMap] {
        let entries = objects("maps", of: root, isRequired: true, limit: limits.maps)
        if case .array([])? = root["maps"] {
            report(.error, "$.maps", "is empty; give at least one map, because positions are on a map")
        }
        var seen: [Int: String] = [:]
        return entries.compactMap { entry in
            let id = uniqueID(of: entry, among: &seen)
            if let id { mapIDs.insert(MapID(rawValue: id)) }
            guard let map = map(entry, id: id) else { return nil }
            if maps[map.id] == nil { maps[map.id] = map }
            return map
        }
    }

    private mutating func map(_ entry: JSONObject, id: Int?) -> VenueMap? {
        let name = string("name", of: entry, wanted: "the map's name")
        let level = integer("level", of: entry, .level)
        let width = number("widthMeters", of: entry, .length)
        let height = number("heightMeters", of: entry, .length)
        let pixels = pixelSize(of: entry)
        let elevation = optionalNumber("elevation", of: entry, .height)
        let image = file("image", of: entry)
        let tiles = file("tiles", of: entry)
        let georeference = georeference(of: entry, width: width, height: height)
        let walls = walls(of: entry)
        let walkable = walkable(of: entry)
        guard let id, let name, let level, let width, let height else { return nil }
        return VenueMap(
            id: MapID(rawValue: id), name: name, level: level, width: width, height: height,
            widthPixels: pixels?.width, heightPixels: pixels?.height, elevation: elevation, imagePath: image,
            tilesPath: tiles, georeference: georeference, walls: walls, walkable: walkable)
    }

    private mutating func pixelSize(of entry: JSONObject) -> (width: Int, height: Int)? {
        guard entry["widthPixels"] != nil || entry["heightPixels"] != nil else { return nil }
        let width = integer("widthPixels", of: entry, .pixels)
        let height = integer("heightPixels", of: entry, .pixels)
        guard let width, let height else { return nil }
        return (width, height)
    }

    private mutating func walls(of entry: JSONObject) -> [[MapPoint]] {
        var walls: [[MapPoint]] = []
        for (value, path) in optionalArray("walls", of: entry) ?? [] {
            guard let line = points(value, at: path) else { continue }
            if line.count < 2 { report(.warning, path, "has fewer than 2 points; give a line or remove it") }
            walls.append(line)
        }
        return walls
    }

    private mutating func walkable(of entry: JSONObject) -> [[MapPoint]] {
        var polygons: [[MapPoint]] = []
        for (value, path) in optionalArray("walkable", of: entry) ?? [] {
            if let polygon = polygon(value, at: path) { polygons.append(polygon) }
        }
        return polygons
    }

    private mutating func georeference(of entry: JSONObject, width: Double?, height: Double?) -> Georeference? {
        guard let object = optionalObject("georeference", of: entry) else { return nil }
        let georeference: Georeference?
        let path: String
        if object["controlPoints"] != nil {
            if object["center"] != nil {
                report(.warning, object.path(of: "center"), "is not used beside controlPoints; remove one of them")
            }
            path = object.path(of: "controlPoints")
            georeference = controlPoints(of: object).map { .controlPoints($0) }
        } else {
            path = object.path
            georeference = center(of: object)
        }
        guard let georeference, let width, let height else { return nil }
        do {
            let transform = try GeoTransform(georeference, width: width, height: height)
            checkFit(transform, at: path)
            return georeference
        } catch {
            report(.error, path, "\(error)")
            return nil
        }
    }

    private mutating func center(of object: JSONObject) -> Georeference? {
        guard required("center", of: object, wanted: "{latitude, longitude} and a bearing, or controlPoints") else {
            return nil
        }
        let coordinate = optionalObject("center", of: object).flatMap { self.coordinate(of: $0) }
        let bearing = number("bearing", of: object, .bearing)
        guard let coordinate, let bearing else { return nil }
        if !(0..<360).contains(bearing) {
            report(.warning, object.path(of: "bearing"), "is \(bearing); write it in [0, 360)")
        }
        return .center(coordinate, bearing: bearing)
    }

    /// Returns all control points; nil if one is invalid, because the others would give a different fit.
    private mutating func controlPoints(of object: JSONObject) -> [Georeference.ControlPoint]? {
        var points: [Georeference.ControlPoint] = []
        let problemsBefore = problemCount
        for entry in objects("controlPoints", of: object) {
            let point = point(of: entry)
            let coordinate = coordinate(of: entry)
            if let point, let coordinate {
                points.append(Georeference.ControlPoint(point: point, coordinate: coordinate))
            }
        }
        return problemCount == problemsBefore ? points : nil
    }

    private mutating func checkFit(_ transform: GeoTransform, at path: String) {
        // The scale in metres per metre: surveyed plans agree within some percent, pixels differ by a factor of 10 or
        // more.
        if !(0.8...1.25).contains(transform.scale) {
            report(
                .warning, path,
                "a metre on the plan is \(transform.scale) m on Earth; give x and y in metres, not pixels")
        }
        // Twice the 68 % error of a good GNSS fix: a larger residual means that a point is wrong.
        if transform.residual > 10 {
            report(
                .warning, path, "the points deviate from their fit by \(transform.residual) m (RMS); check each of them"
            )
        }
    }
}
