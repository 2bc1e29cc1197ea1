import IndoorVocabulary

/// A place on a map in one of its frames, as somebody outside may know it.
public enum FixPlace: Hashable, Sendable {
    /// Metres right of and below the plan's top-left corner.
    case point(MapPoint)
    /// Pixels right of and below the image's top-left corner.
    case pixel(PixelPoint)
    /// A coordinate on Earth.
    case coordinate(Coordinate)
}

/// Why a place tells nothing.
public enum FixError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The radius is not above 0, or larger than 1000 km.
    case invalidRadius(Double)
    /// The place is not finite, or no coordinate.
    case invalidPlace(FixPlace)
    /// The map's image has no size, so that its pixels are nowhere.
    case noImageSize(MapID)
    /// The venue has no such map.
    case unknownMap(MapID)
    /// It lies so many metres off the plan of its map, farther than 50 m and its radius.
    case offPlan(MapID, distance: Double)
    /// The method of positioning keeps no place.
    case methodWithoutMemory
    /// The map does not know how it lies on Earth.
    case notGeoreferenced(MapID)
    /// The map's georeference does not fix it on Earth.
    case georeference(GeoreferenceError)

    public var description: String {
        switch self {
        case .invalidRadius(let radius): "the radius \(radius) is none; give one above 0 and up to 1e6 m"
        case .invalidPlace(let place): "\(place) is no place; give finite numbers, latitude and longitude in range"
        case .noImageSize(let map): "map \(map) has no image size; add it to the packet, or give metres"
        case .unknownMap(let map): "the venue has no map \(map); give one of its maps"
        case .offPlan(let map, let distance):
            "the place is \(Int(distance.rounded())) m off the plan of map \(map); give one on it"
        case .methodWithoutMemory: "the method of positioning keeps no place; use the method particle"
        case .notGeoreferenced(let map): "map \(map) has no georeference; add it to the packet, or give metres"
        case .georeference(let error): "\(error)"
        }
    }
}

extension VenueMap {
    /// Metres that a pixel of the image is wide, the mean of both axes; nil if the image's size is unknown.
    public var metersPerPixel: Double? {
        guard let widthPixels, let heightPixels, widthPixels > 0, heightPixels > 0 else { return nil }
        return (width / Double(widthPixels) + height / Double(heightPixels)) / 2
    }

    /// Pixels of the image that a metre is wide; nil if the image's size is unknown.
    public var pixelsPerMeter: Double? { metersPerPixel.flatMap { $0 > 0 ? 1 / $0 : nil } }

    /// The fix at a place of this map.
    ///
    /// - Parameters:
    ///   - place: in any of the map's frames.
    ///   - radius: 68 % radius, in pixels for a pixel and in metres otherwise; 3 m is a good value.
    ///   - isSoft: true combines it with what the radio hears; false replaces that.
    ///   - instant: when it was valid; a session puts its own there.
    /// - Throws: `FixError` if the place or its radius tells nothing.
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
    /// Metres from a place to the plan; 0 on it.
    package func distanceOff(to point: MapPoint) -> Double {
        let dx = max(0, -point.x, point.x - width)
        let dy = max(0, -point.y, point.y - height)
        return MapPoint(x: dx, y: dy).distance(to: MapPoint(x: 0, y: 0))
    }
}

extension Fix {
    /// The largest radius that tells something, in metres.
    static let largestRadius = 1e6
    /// Metres off a plan at which somebody may still be: on the way to the building.
    private static let nearby = 50.0

    /// Why it tells nothing, in whatever venue; nil if it may.
    package var problem: FixError? {
        guard radius > 0, radius <= Self.largestRadius else { return .invalidRadius(radius) }
        guard point.x.isFinite, point.y.isFinite else { return .invalidPlace(.point(point)) }
        return nil
    }

    /// Why it tells nothing on the map that it names; nil if it may.
    package func problem(on map: VenueMap) -> FixError? {
        if let problem { return problem }
        let distance = map.distanceOff(to: point)
        return distance <= Self.nearby + radius ? nil : .offPlan(map.id, distance: distance)
    }

    /// Why it tells nothing in a venue; nil if it may.
    package func problem(in venue: Venue) -> FixError? {
        guard let map = venue.map(mapID) else { return problem ?? .unknownMap(mapID) }
        return problem(on: map)
    }
}
