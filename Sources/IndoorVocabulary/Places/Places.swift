import CMath

/// A point or a displacement on a map, in metres: origin at the plan's top-left corner, x right, y down.
public struct MapPoint: Hashable, Sendable {
    /// Metres to the right of the plan's left edge.
    public var x: Double
    /// Metres below the plan's top edge.
    public var y: Double

    /// Creates a point from metres right of and below the plan's top-left corner.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Returns the distance in metres to another point of the same map.
    public func distance(to other: MapPoint) -> Double { cmath_hypot(x - other.x, y - other.y) }

    /// Returns the sum of a point and a displacement, or of two displacements.
    public static func + (left: MapPoint, right: MapPoint) -> MapPoint {
        MapPoint(x: left.x + right.x, y: left.y + right.y)
    }

    /// Returns the displacement from `right` to `left`.
    public static func - (left: MapPoint, right: MapPoint) -> MapPoint {
        MapPoint(x: left.x - right.x, y: left.y - right.y)
    }

    /// Returns the displacement multiplied by `factor`.
    public static func * (point: MapPoint, factor: Double) -> MapPoint {
        MapPoint(x: point.x * factor, y: point.y * factor)
    }

    /// The direction of this displacement in degrees clockwise from the plan's top, in [0, 360); nil if it is zero.
    public var course: Double? {
        guard x != 0 || y != 0 else { return nil }
        let degrees = cmath_atan2(x, -y) * 180 / .pi
        return degrees < 0 ? (degrees + 360 < 360 ? degrees + 360 : 0) : degrees
    }
}

/// A point on a plan's image, in pixels: origin at the top-left corner, x right, y down.
public struct PixelPoint: Hashable, Sendable {
    /// Pixels to the right of the image's left edge.
    public var x: Double
    /// Pixels below the image's top edge.
    public var y: Double

    /// Creates a point from pixels right of and below the image's top-left corner.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }
}

/// A place on Earth: WGS84 latitude and longitude in degrees.
public struct Coordinate: Hashable, Sendable {
    /// Degrees north of the equator, in [-90, 90].
    public var latitude: Double
    /// Degrees east of Greenwich, in [-180, 180].
    public var longitude: Double

    /// Creates a coordinate from degrees north and degrees east.
    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    /// Whether both numbers are finite and within their ranges.
    public var isValid: Bool { abs(latitude) <= 90 && abs(longitude) <= 180 }

    /// Returns the great-circle distance in metres, on a sphere with the Earth's mean radius (error below 0.6 %).
    ///
    /// Source: R. W. Sinnott, *Virtues of the Haversine*, Sky and Telescope 68(2), 1984.
    public func distance(to other: Coordinate) -> Double {
        let earthMeanRadius = 6_371_008.8
        let radians = Double.pi / 180
        let sinLatitude = cmath_sin((other.latitude - latitude) * radians / 2)
        let sinLongitude = cmath_sin((other.longitude - longitude) * radians / 2)
        let chord =
            sinLatitude * sinLatitude
            + cmath_cos(latitude * radians) * cmath_cos(other.latitude * radians) * sinLongitude * sinLongitude
        return 2 * earthMeanRadius * cmath_asin(min(1, chord.squareRoot()))
    }
}
