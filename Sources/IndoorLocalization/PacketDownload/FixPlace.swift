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
    /// The radius is not above 0, or larger than 100,000 km.
    case invalidRadius(Double)
    /// The place is not finite, or no coordinate.
    case invalidPlace(FixPlace)
    /// The map's image has no size, so that its pixels are nowhere.
    case noImageSize(MapID)
    /// The map does not know how it lies on Earth.
    case notGeoreferenced(MapID)
    /// The map's georeference does not fix it on Earth.
    case georeference(GeoreferenceError)

    public var description: String {
        switch self {
        case .invalidRadius(let radius): "the radius \(radius) is none; give one above 0 and up to 1e8 m"
        case .invalidPlace(let place): "\(place) is no place; give finite numbers, latitude and longitude in range"
        case .noImageSize(let map): "map \(map) has no image size; add it to the packet, or give metres"
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
    ///   - isSoft: whether it is one witness among others; otherwise it is believed.
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
        guard meters > 0, meters <= 1e8 else { throw .invalidRadius(radius) }
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
