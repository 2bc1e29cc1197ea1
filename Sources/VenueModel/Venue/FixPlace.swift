import IndoorVocabulary

/// A place on a map for a position from outside the package: in metres, in pixels, or as a coordinate.
public enum FixPlace: Hashable, Sendable {
    /// Metres right of and below the plan's top-left corner.
    case point(MapPoint)
    /// Pixels right of and below the image's top-left corner.
    case pixel(PixelPoint)
    /// A coordinate on Earth.
    case coordinate(Coordinate)
}

/// The reason that a fix is invalid.
public enum FixError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The radius isn't above 0, or is larger than 1000 km.
    case invalidRadius(Double)
    /// The place isn't finite, or isn't a valid coordinate.
    case invalidPlace(FixPlace)
    /// The image size of the map is unknown, so pixels can't be converted.
    case noImageSize(MapID)
    /// The venue doesn't have the map.
    case unknownMap(MapID)
    /// The place is more than 50 m plus its radius outside the plan of its map; `distance` is the distance to the plan
    /// in metres.
    case offPlan(MapID, distance: Double)
    /// The positioning method doesn't keep a state.
    case methodWithoutMemory
    /// The map has no georeference.
    case notGeoreferenced(MapID)
    /// The georeference of the map is invalid.
    case georeference(GeoreferenceError)

    public var description: String {
        switch self {
        case .invalidRadius(let radius): "the radius \(radius) is invalid; give one above 0 and up to 1e6 m"
        case .invalidPlace(let place):
            "\(place) is not a valid place; give finite numbers, latitude and longitude in range"
        case .noImageSize(let map): "map \(map) has no image size; add it to the packet, or give metres"
        case .unknownMap(let map): "the venue has no map \(map); give one of its maps"
        case .offPlan(let map, let distance):
            "the place is \(Int(distance.rounded())) m off the plan of map \(map); give one on it"
        case .methodWithoutMemory: "the positioning method keeps no state; use the method particle"
        case .notGeoreferenced(let map): "map \(map) has no georeference; add it to the packet, or give metres"
        case .georeference(let error): "\(error)"
        }
    }
}

extension VenueMap {
    /// Metres per pixel of the image, as the mean of both axes; nil if the image size is unknown.
    public var metersPerPixel: Double? {
        guard let widthPixels, let heightPixels, widthPixels > 0, heightPixels > 0 else { return nil }
        return (width / Double(widthPixels) + height / Double(heightPixels)) / 2
    }

    /// Pixels of the image per metre; nil if the image size is unknown.
    public var pixelsPerMeter: Double? { metersPerPixel.flatMap { $0 > 0 ? 1 / $0 : nil } }

    /// Returns a fix at a place on this map.
    ///
    /// - Parameters:
    ///   - place: The place in any frame of the map.
    ///   - radius: The 68 % radius, in pixels for a pixel and in metres otherwise; 3 m is a good value.
    ///   - isSoft: Whether a session combines the fix with its other evidence; if false, the fix replaces the evidence.
    ///   - instant: The time of the fix; a session replaces it with its own.
    /// - Throws: `FixError` if the place or its radius is invalid.
    public func fix(
        at place: FixPlace, radius: Double, isSoft: Bool = false, instant: Instant = .zero
    ) throws(FixError) -> Fix {
        let point: MapPoint
        var meters = radius
        switch place {
        case .point(let given):
            point = given
        case .pixel(let pixel):
            guard let given = self.point(at: pixel), let scale = metersPerPixel else { throw .noImageSize(id) }
            point = given
            meters = radius * scale
        case .coordinate(let coordinate):
            guard coordinate.isValid else { throw .invalidPlace(place) }
            point = try self.point(at: coordinate)
        }
        guard meters > 0, meters <= Fix.largestRadius else { throw .invalidRadius(radius) }
        guard point.x.isFinite, point.y.isFinite else { throw .invalidPlace(place) }
        return Fix(instant: instant, mapID: id, point: point, radius: meters, isSoft: isSoft)
    }

    private func point(at coordinate: Coordinate) throws(FixError) -> MapPoint {
        let transform: GeoTransform?
        do throws(GeoreferenceError) { transform = try geoTransform() } catch { throw .georeference(error) }
        guard let transform else { throw .notGeoreferenced(id) }
        return transform.point(at: coordinate)
    }
}

extension VenueMap {
    /// Returns the distance in metres from a place to the plan; 0 on the plan.
    package func distanceOff(to point: MapPoint) -> Double {
        let dx = max(0, -point.x, point.x - width)
        let dy = max(0, -point.y, point.y - height)
        return MapPoint(x: dx, y: dy).distance(to: MapPoint(x: 0, y: 0))
    }
}

extension Fix {
    /// The maximum radius of a fix in metres.
    static let largestRadius = 1e6
    /// The maximum distance in metres outside the plan; users can be near the building.
    private static let nearby = 50.0

    /// The problem of the fix, independent of the venue; nil if there is none.
    package var problem: FixError? {
        guard radius > 0, radius <= Self.largestRadius else { return .invalidRadius(radius) }
        guard point.x.isFinite, point.y.isFinite else { return .invalidPlace(.point(point)) }
        return nil
    }

    /// Returns the problem of the fix on its map; nil if there is none.
    package func problem(on map: VenueMap) -> FixError? {
        if let problem { return problem }
        let distance = map.distanceOff(to: point)
        return distance <= Self.nearby + radius ? nil : .offPlan(map.id, distance: distance)
    }

    /// Returns the problem of the fix in a venue; nil if there is none.
    package func problem(in venue: Venue) -> FixError? {
        guard let map = venue.map(mapID) else { return problem ?? .unknownMap(mapID) }
        return problem(on: map)
    }
}
