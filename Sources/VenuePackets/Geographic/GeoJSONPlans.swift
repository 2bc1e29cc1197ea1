import IndoorVocabulary
import TextFormats
import VenueModel

/// The maps of a venue with their transforms, which create the features on them.
struct GeoJSONPlans {
    private struct Plan {
        let map: VenueMap
        /// Nil in the local frame.
        let transform: GeoTransform?
    }

    private let plans: [MapID: Plan]
    let frame: GeoJSONWriter.Frame

    /// - Parameters:
    ///   - needed: the maps of the features to write.
    ///   - truth: the maps that only the ground truth uses.
    init(
        of venue: Venue, needed: [MapID], ofTruth truth: Set<MapID> = [], in frame: GeoJSONWriter.Frame
    ) throws(GeoJSONError) {
        var plans: [MapID: Plan] = [:]
        var missing: [MapID] = []
        for id in needed {
            guard let map = venue.map(id) else {
                throw .unknownMap(id, truth.contains(id) ? "the ground truth" : "the track")
            }
            guard frame == .geographic else {
                plans[id] = Plan(map: map, transform: nil)
                continue
            }
            do throws(GeoreferenceError) {
                if let transform = try map.geoTransform() {
                    plans[id] = Plan(map: map, transform: transform)
                } else {
                    missing.append(id)
                }
            } catch {
                throw .wrongGeoreference(id, error)
            }
        }
        guard missing.isEmpty else { throw .notGeoreferenced(missing) }
        self.plans = plans
        self.frame = frame
    }

    /// Returns a position: longitude and latitude with seven decimals.
    func position(_ point: MapPoint, on map: MapID, of thing: String) throws(GeoJSONError) -> JSONTree {
        let coordinate = try coordinate(point, on: map, of: thing)
        return .array([.number(coordinate.longitude), .number(coordinate.latitude)])
    }

    static func position(_ coordinate: Coordinate) -> JSONTree {
        .array([.number(decimals(coordinate.longitude)), .number(decimals(coordinate.latitude))])
    }

    private static func decimals(_ degrees: Double) -> Double { (degrees * 1e7).rounded() / 1e7 }

    /// Returns metres with three decimals; zero has no sign.
    private static func metres(_ value: Double) -> Double { (value * 1e3).rounded() / 1e3 + 0 }

    /// Returns latitude and longitude, rounded; in the local frame, y and x instead.
    private func coordinate(_ point: MapPoint, on map: MapID, of thing: String) throws(GeoJSONError) -> Coordinate {
        guard let plan = plans[map] else { throw .unknownMap(map, thing) }
        guard point.x.isFinite, point.y.isFinite else { throw .invalidNumber(thing) }
        guard let transform = plan.transform else {
            return Coordinate(latitude: Self.metres(plan.map.height - point.y), longitude: Self.metres(point.x))
        }
        let coordinate = transform.coordinate(at: point)
        return Coordinate(
            latitude: Self.decimals(coordinate.latitude), longitude: Self.decimals(coordinate.longitude))
    }

    func positions(_ points: [MapPoint], on map: MapID, of thing: String) throws(GeoJSONError) -> [JSONTree] {
        var positions: [JSONTree] = []
        for point in points { positions.append(try position(point, on: map, of: thing)) }
        return positions
    }

    func pointGeometry(_ point: MapPoint, on map: MapID, of thing: String) throws(GeoJSONError) -> JSONTree {
        Self.geometry("Point", try position(point, on: map, of: thing))
    }

    func lineGeometry(_ points: [MapPoint], on map: MapID, of thing: String) throws(GeoJSONError) -> JSONTree {
        Self.geometry("LineString", .array(try positions(points, on: map, of: thing)))
    }

    /// Returns a polygon without holes: closed, and counter-clockwise on Earth.
    func polygonGeometry(_ corners: [MapPoint], on map: MapID, of thing: String) throws(GeoJSONError) -> JSONTree {
        var ring: [Coordinate] = []
        for corner in corners { ring.append(try coordinate(corner, on: map, of: thing)) }
        if let first = ring.first, ring.last == first, ring.count > 1 { ring.removeLast() }
        if Self.turns(ring) < 0 { ring.reverse() }
        ring += ring.prefix(1)
        return Self.geometry(
            "Polygon", .array([.array(ring.map { .array([.number($0.longitude), .number($0.latitude)]) })]))
    }

    static func geometry(_ type: String, _ coordinates: JSONTree) -> JSONTree {
        .object(["type": .string(type), "coordinates": coordinates])
    }

    /// Returns a positive number for a counter-clockwise ring: the shoelace formula, relative to its first corner.
    private static func turns(_ ring: [Coordinate]) -> Double {
        guard let origin = ring.first, var previous = ring.last else { return 0 }
        var twice = 0.0
        for corner in ring {
            twice += (previous.longitude - origin.longitude) * (corner.latitude - origin.latitude)
            twice -= (corner.longitude - origin.longitude) * (previous.latitude - origin.latitude)
            previous = corner
        }
        return twice
    }

    /// Returns a feature with the common properties; properties without a value are omitted.
    func feature(
        _ kind: String, id: String? = nil, on map: MapID, _ geometry: JSONTree, _ properties: [String: JSONTree?] = [:]
    ) -> JSONTree {
        var all = properties
        all["mapId"] = .number(Double(map.rawValue))
        if let plan = plans[map]?.map {
            all["map"] = .string(plan.name)
            all["level"] = .number(Double(plan.level))
        }
        return Self.feature(kind, id: id, geometry, all)
    }

    /// Returns a feature without a map.
    static func feature(
        _ kind: String, id: String? = nil, _ geometry: JSONTree, _ properties: [String: JSONTree?]
    ) -> JSONTree {
        var all = properties.compactMapValues(\.self)
        all["kind"] = .string(kind)
        var fields: [String: JSONTree] = [
            "type": .string("Feature"), "geometry": geometry, "properties": .object(all),
        ]
        if let id { fields["id"] = .string(id) }
        return .object(fields)
    }

    /// Returns the level of a map.
    func level(of map: MapID) -> JSONTree? { plans[map].map { .number(Double($0.map.level)) } }
}
