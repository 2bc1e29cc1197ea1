import CMath
import IndoorVocabulary

/// The tangent plane of the WGS84 ellipsoid at one coordinate, with axes in metres to the east and to the north.
///
/// The projection converts a coordinate to Earth-centred, Earth-fixed metres and projects it perpendicularly onto the
/// plane, so poles and the date line need no special case. A place at a distance of `d` metres is about `d²/2R` below
/// the plane (2 cm at 500 m). Ignoring this height displaces the place by `d³/2R²`: 2 µm at 500 m, 1.6 cm at 10 km.
///
/// Source: NIMA TR8350.2, *Department of Defense World Geodetic System 1984*, 3rd edition, 2000, chapter 3 and 4.3;
/// height and latitude from Earth-centred metres: B. R. Bowring, *Transformation from spatial to geographical
/// coordinates*, Survey Review 23(181), 1976.
package struct LocalTangentPlane: Hashable, Sendable {
    /// WGS84 semi-major axis `a` in metres.
    static let semiMajorAxis = 6_378_137.0
    /// WGS84 flattening `f`.
    static let flattening = 1 / 298.257223563
    /// First eccentricity squared, `e² = f (2 - f)`.
    static let eccentricitySquared = flattening * (2 - flattening)

    /// The coordinate at which the plane touches the ellipsoid.
    package let origin: Coordinate
    private let center: Vector3
    private let east: Vector3
    private let north: Vector3

    /// Creates the tangent plane at `origin`.
    package init(origin: Coordinate) {
        let latitude = origin.latitude * .pi / 180
        let longitude = origin.longitude * .pi / 180
        let (sinLatitude, cosLatitude) = (cmath_sin(latitude), cmath_cos(latitude))
        let (sinLongitude, cosLongitude) = (cmath_sin(longitude), cmath_cos(longitude))
        self.origin = origin
        center = Self.earthCentered(origin)
        east = Vector3(x: -sinLongitude, y: cosLongitude, z: 0)
        north = Vector3(x: -sinLatitude * cosLongitude, y: -sinLatitude * sinLongitude, z: cosLatitude)
    }

    /// Returns the offset of a coordinate in metres east and north of the origin.
    package func offset(of coordinate: Coordinate) -> (east: Double, north: Double) {
        let place = Self.earthCentered(coordinate)
        let x = place.x - center.x
        let y = place.y - center.y
        let z = place.z - center.z
        return (east.x * x + east.y * y, north.x * x + north.y * y + north.z * z)
    }

    /// Returns the coordinate at an offset in metres east and north of the origin.
    package func coordinate(east eastward: Double, north northward: Double) -> Coordinate {
        Self.coordinate(
            earthCentered: Vector3(
                x: center.x + east.x * eastward + north.x * northward,
                y: center.y + east.y * eastward + north.y * northward,
                z: center.z + north.z * northward))
    }

    /// Returns a place on the ellipsoid in Earth-centred, Earth-fixed metres.
    ///
    /// `N = a / √(1 - e² sin²φ)` is the radius of curvature across the meridian.
    private static func earthCentered(_ coordinate: Coordinate) -> Vector3 {
        let latitude = coordinate.latitude * .pi / 180
        let longitude = coordinate.longitude * .pi / 180
        let sinLatitude = cmath_sin(latitude)
        let radius = semiMajorAxis / (1 - eccentricitySquared * sinLatitude * sinLatitude).squareRoot()
        let fromAxis = radius * cmath_cos(latitude)
        return Vector3(
            x: fromAxis * cmath_cos(longitude), y: fromAxis * cmath_sin(longitude),
            z: radius * (1 - eccentricitySquared) * sinLatitude)
    }

    /// Returns the coordinate below a place near the ellipsoid, by Bowring's closed form (error below 1 µm).
    private static func coordinate(earthCentered place: Vector3) -> Coordinate {
        let semiMinorAxis = semiMajorAxis * (1 - flattening)
        let secondEccentricitySquared = eccentricitySquared / (1 - eccentricitySquared)
        let fromAxis = cmath_hypot(place.x, place.y)
        let reduced = cmath_atan2(place.z * semiMajorAxis, fromAxis * semiMinorAxis)
        let (sine, cosine) = (cmath_sin(reduced), cmath_cos(reduced))
        let latitude = cmath_atan2(
            place.z + secondEccentricitySquared * semiMinorAxis * sine * sine * sine,
            fromAxis - eccentricitySquared * semiMajorAxis * cosine * cosine * cosine)
        return Coordinate(latitude: latitude * 180 / .pi, longitude: cmath_atan2(place.y, place.x) * 180 / .pi)
    }
}
