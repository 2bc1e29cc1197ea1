import CMath
import IndoorVocabulary
import VenueModel

/// A position as the sentences of one cycle describe it.
struct NMEAFix: Hashable, Sendable {
    /// The origin of a position.
    enum Origin: Hashable, Sendable {
        /// Estimated: quality 6 of GGA and mode E of RMC, as receivers use them for dead reckoning.
        case estimated
        /// Computed by a satellite receiver: quality 1 and mode A.
        case satellites

        var quality: String { self == .estimated ? "6" : "1" }
        var mode: String { self == .estimated ? "E" : "A" }
    }

    /// The standard deviations of a position in metres.
    struct Deviations: Hashable, Sendable {
        var semiMajor: Double
        var semiMinor: Double
        /// The direction of the major axis in degrees clockwise from true north, in [0, 180).
        var direction: Double
        var latitude: Double
        var longitude: Double
    }

    var origin: Origin
    var coordinate: Coordinate
    /// The 68 % error radius in metres.
    var radius: Double
    var deviations: Deviations
    /// Metres per second; nil if unknown.
    var speed: Double?
    /// Degrees clockwise from true north; nil if unknown.
    var course: Double?

    /// Creates the fix of a position; nil if its map has no georeference.
    ///
    /// - Parameter transform: the transform of the position's map.
    init?(_ position: Position, _ transform: GeoTransform) {
        guard let coordinate = position.coordinate, coordinate.isValid, position.radius.isFinite else { return nil }
        origin = .estimated
        self.coordinate = coordinate
        radius = position.radius
        deviations = position.covariance.flatMap { Deviations($0, transform) } ?? Deviations(radius: radius)
        speed = position.speed
        course = position.course.map(transform.trueCourse)
    }

    /// Creates the fix of an outdoor position; nil if its coordinate is invalid.
    init?(_ position: OutdoorPosition) {
        guard position.coordinate.isValid, position.radius.isFinite else { return nil }
        origin = .satellites
        coordinate = position.coordinate
        radius = position.radius
        deviations = Deviations(radius: radius)
        speed = position.speed
        course = position.course
    }
}

extension NMEAFix.Deviations {
    /// Creates equal deviations in all directions from the 68 % radius of a normal distribution.
    init(radius: Double) {
        let deviation = radius / PositionCovariance.radiusOfDeviation
        self.init(semiMajor: deviation, semiMinor: deviation, direction: 0, latitude: deviation, longitude: deviation)
    }

    /// Creates the deviations of a covariance along the axes of a map; nil if it isn't a valid covariance.
    ///
    /// With the bearing β of the plan's top, a step to the right goes to the true course β + 90°, and a step down to
    /// β + 180°.
    init?(_ covariance: PositionCovariance, _ transform: GeoTransform) {
        // The ellipse of one standard deviation contains a share of 1 − exp(−½) of all errors.
        guard let ellipse = covariance.ellipse(probability: 1 - cmath_exp(-0.5)) else { return nil }
        let scale = transform.scale
        let angle = transform.bearing * .pi / 180
        let (sine, cosine) = (cmath_sin(angle), cmath_cos(angle))
        let (xx, xy, yy) = (covariance.xx, covariance.xy, covariance.yy)
        let east = xx * cosine * cosine - 2 * xy * sine * cosine + yy * sine * sine
        let north = xx * sine * sine + 2 * xy * sine * cosine + yy * cosine * cosine
        self.init(
            semiMajor: ellipse.semiMajorAxis * scale, semiMinor: ellipse.semiMinorAxis * scale,
            direction: cmath_fmod(ellipse.direction + transform.bearing, 180),
            latitude: max(0, north).squareRoot() * scale, longitude: max(0, east).squareRoot() * scale)
    }
}
