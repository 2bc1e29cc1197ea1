import CMath

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
