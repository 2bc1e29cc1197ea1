import CMath
import IndoorVocabulary

/// The location and orientation of a plan on Earth.
public enum Georeference: Hashable, Sendable {
    /// A point of the plan with its coordinate.
    public struct ControlPoint: Hashable, Sendable {
        /// The point on the plan.
        public var point: MapPoint
        /// The same place on Earth.
        public var coordinate: Coordinate

        /// Creates a control point.
        public init(point: MapPoint, coordinate: Coordinate) {
            self.point = point
            self.coordinate = coordinate
        }
    }

    /// The plan's centre and the bearing of its "up", in degrees clockwise from true north.
    case center(Coordinate, bearing: Double)
    /// Points known in both frames. Two points define a similarity transform; more points are fitted by least squares.
    case controlPoints([ControlPoint])
}

/// The reason that a georeference is invalid.
public enum GeoreferenceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A number isn't finite, a coordinate is out of range, or the size of the plan isn't above 0.
    case invalidNumber
    /// There are fewer than two control points, the minimum for a similarity transform.
    case tooFewControlPoints(Int)
    /// All control points are within one centimetre of each other, on the plan or on Earth.
    case coincidentControlPoints
    /// The control points contradict each other: no similarity transform without reflection approximates them.
    case contradictoryControlPoints

    public var description: String {
        switch self {
        case .invalidNumber:
            "a number is not finite or out of range; give latitudes in [-90, 90] and longitudes in [-180, 180]"
        case .tooFewControlPoints(let count):
            "\(count) control point(s) don't fix the plan on Earth; give two or more"
        case .coincidentControlPoints:
            "the control points coincide; give points that lie far apart, on the plan and on Earth"
        case .contradictoryControlPoints:
            "the control points contradict each other; check that y points down and that no coordinates are swapped"
        }
    }
}

/// A transform between points of one map and coordinates.
///
/// The transform is a similarity (rotation, scale and translation) to the tangent plane of the WGS84 ellipsoid at the
/// centre of the plan or at the first control point. Within 1 km of that point, the round-trip error is below 1 mm.
public struct GeoTransform: Hashable, Sendable {
    /// The tangent plane of the fit.
    private let plane: LocalTangentPlane
    // Plan and plane are complex numbers, z = x - iy (y points down) and w = east + i north: w = az + b.
    private let a: Complex
    private let b: Complex

    /// Metres on Earth per metre on the plan; 1 for a georeference by centre and bearing.
    public var scale: Double { a.length }
    /// The root mean square distance in metres between the control points and the fit; 0 without control points.
    public let residual: Double

    /// The bearing of the plan's "up" in degrees clockwise from true north, in [0, 360).
    public var bearing: Double {
        // "Up" is i; ai = -Im a + i Re a has its east component in the real part and its north component in the
        // imaginary part.
        let degrees = cmath_atan2(-a.imaginary, a.real) * 180 / .pi
        return degrees < 0 ? (degrees + 360 < 360 ? degrees + 360 : 0) : degrees
    }

    /// Creates the transform of a plan of `width` by `height` metres.
    ///
    /// Fits control points by least squares. Source: S. Umeyama, *Least-squares estimation of transformation parameters
    /// between two point patterns*, IEEE TPAMI 13(4), 1991; in the plane it is a complex linear regression.
    ///
    /// - Throws: `GeoreferenceError` if the georeference is invalid.
    package init(_ georeference: Georeference, width: Double, height: Double) throws(GeoreferenceError) {
        guard width > 0, height > 0, width.isFinite, height.isFinite else { throw .invalidNumber }
        switch georeference {
        case .center(let coordinate, let bearing):
            guard coordinate.isValid, bearing.isFinite else { throw .invalidNumber }
            let radians = bearing * .pi / 180
            plane = LocalTangentPlane(origin: coordinate)
            a = Complex(real: cmath_cos(radians), imaginary: -cmath_sin(radians))
            b = Complex() - a * Complex(MapPoint(x: width / 2, y: height / 2))
            residual = 0
        case .controlPoints(let points):
            let fit = try Self.fit(points)
            (plane, a, b, residual) = (fit.plane, fit.a, fit.b, fit.residual)
        }
    }

    /// Returns the coordinate of a point of the plan.
    public func coordinate(at point: MapPoint) -> Coordinate {
        let place = a * Complex(point) + b
        return plane.coordinate(east: place.real, north: place.imaginary)
    }

    /// Returns the point of the plan at a coordinate, which can be beyond the edges of the plan.
    public func point(at coordinate: Coordinate) -> MapPoint {
        let offset = plane.offset(of: coordinate)
        let point = (Complex(real: offset.east, imaginary: offset.north) - b) / a
        return MapPoint(x: point.real, y: -point.imaginary)
    }

    /// Returns the true course of a course on the plan, both in degrees clockwise, in [0, 360).
    package func trueCourse(of course: Double) -> Double {
        let degrees = cmath_fmod(course + bearing, 360)
        return degrees < 0 ? (degrees + 360 < 360 ? degrees + 360 : 0) : degrees
    }

    private typealias Fit = (plane: LocalTangentPlane, a: Complex, b: Complex, residual: Double)

    /// Fits `a = Σ z̄w / Σ |z|²`, with `z` and `w` relative to their means, and `b = mean w - a mean z`.
    private static func fit(_ points: [Georeference.ControlPoint]) throws(GeoreferenceError) -> Fit {
        guard let first = points.first, points.count >= 2 else { throw .tooFewControlPoints(points.count) }
        guard points.allSatisfy({ $0.coordinate.isValid && $0.point.x.isFinite && $0.point.y.isFinite }) else {
            throw .invalidNumber
        }
        let plane = LocalTangentPlane(origin: first.coordinate)
        let from = points.map { Complex($0.point) }
        let to = points.map { point in
            let offset = plane.offset(of: point.coordinate)
            return Complex(real: offset.east, imaginary: offset.north)
        }
        let count = Double(points.count)
        let fromMean = from.reduce(Complex(), +) * (1 / count)
        let toMean = to.reduce(Complex(), +) * (1 / count)
        var product = Complex()
        var (fromSpread, toSpread) = (0.0, 0.0)
        for (z, w) in zip(from, to) {
            product = product + (z - fromMean).conjugate * (w - toMean)
            fromSpread += (z - fromMean).lengthSquared
            toSpread += (w - toMean).lengthSquared
        }
        let smallestSpread = 1e-4 * count  // (1 cm)² per point
        guard fromSpread > smallestSpread, toSpread > smallestSpread else { throw .coincidentControlPoints }
        let a = product * (1 / fromSpread)
        let b = toMean - a * fromMean
        let squares = zip(from, to).reduce(0) { $0 + (a * $1.0 + b - $1.1).lengthSquared }
        // If more than half of the spread is unexplained, the cause is mirrored or swapped points, not measurement
        // errors.
        guard squares.isFinite, squares <= toSpread / 2 else { throw .contradictoryControlPoints }
        return (plane, a, b, (squares / count).squareRoot())
    }
}

/// A complex number with the operations of a similarity transform.
private struct Complex: Hashable, Sendable {
    var real = 0.0
    var imaginary = 0.0

    var lengthSquared: Double { real * real + imaginary * imaginary }
    var length: Double { cmath_hypot(real, imaginary) }
    var conjugate: Complex { Complex(real: real, imaginary: -imaginary) }

    static func + (left: Complex, right: Complex) -> Complex {
        Complex(real: left.real + right.real, imaginary: left.imaginary + right.imaginary)
    }
    static func - (left: Complex, right: Complex) -> Complex {
        Complex(real: left.real - right.real, imaginary: left.imaginary - right.imaginary)
    }
    static func * (left: Complex, right: Complex) -> Complex {
        Complex(
            real: left.real * right.real - left.imaginary * right.imaginary,
            imaginary: left.real * right.imaginary + left.imaginary * right.real)
    }
    static func * (left: Complex, factor: Double) -> Complex {
        Complex(real: left.real * factor, imaginary: left.imaginary * factor)
    }
    static func / (left: Complex, right: Complex) -> Complex {
        left * right.conjugate * (1 / right.lengthSquared)
    }
}

extension Complex {
    init(_ point: MapPoint) { self.init(real: point.x, imaginary: -point.y) }
}

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
