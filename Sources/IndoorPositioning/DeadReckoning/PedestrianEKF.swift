import CMath
import VenueModel

/// A place that steps lead away from a start, and how uncertain it becomes on the way.
///
/// An extended Kalman filter whose state is the place, the angle between the device and the way that is walked, and the length
/// of a step against what is measured. Errors of these two carry through the whole way, so that the uncertainty grows with
/// the distance from the start; and a place that is told later corrects them, too. Source: R. Harle, *A Survey of Indoor
/// Inertial Positioning Systems for Pedestrians*, IEEE Communications Surveys & Tutorials 15(3), 2013, section V.
struct PedestrianEKF: Hashable, Sendable {
    /// Metres to the right of the frame's origin.
    private(set) var x = 0.0
    /// Metres ahead of it.
    private(set) var y = 0.0
    /// Radians clockwise by which the way differs from the device's heading.
    private(set) var bias = 0.0
    /// Length of a step against what is measured.
    private(set) var scale: Double

    // The state's covariance: place, bias (b) and scale (s).
    private var xx = 0.0
    private var xy = 0.0
    private var yy = 0.0
    private var xb: Double = 0
    private var yb: Double = 0
    private var bb: Double
    private var xs: Double = 0
    private var ys: Double = 0
    private var bs: Double = 0
    private var ss: Double

    /// Metres around the start within which that lay, and the way since then: no error is larger than both.
    private var startRadius = 0.0
    private var wayLength = 0.0
    private let model: MotionModel

    /// A way that could lead anywhere is not worse than that: a quarter turn as a deviation.
    private static let largestBias = Double.pi / 2

    /// Creates a place at the origin.
    init(model: MotionModel, scale: Double = 1, scaleDeviation: Double? = nil) {
        self.model = model
        self.scale = scale
        let deviation = scaleDeviation ?? model.stepScale
        ss = deviation * deviation
        bb = Self.square(model.headingBias * .pi / 180)
    }

    private static func square(_ value: Double) -> Double { value * value }

    /// Metres around the place within which the truth lies 68 times of 100.
    var radius: Double {
        let spread = PositionCovariance.radiusOfDeviation * (max(0, xx + yy) / 2).squareRoot()
        return min(spread, startRadius + wayLength * (1 + 2 * model.stepScale))
    }

    /// Standard deviation of the bias, in radians.
    var biasDeviation: Double { max(0, bb).squareRoot() }
    /// Standard deviation of the step's scale.
    var scaleDeviation: Double { max(0, ss).squareRoot() }

    /// Lets the angle between device and way wander.
    mutating func pass(seconds: Double) {
        bb = min(bb + Self.square(model.headingDrift * .pi / 180) * max(0, seconds), Self.square(Self.largestBias))
    }

    /// Takes a step of so many metres, as measured, with the device's heading in radians clockwise from ahead.
    ///
    /// - Returns: how far the place has moved.
    @discardableResult mutating func step(length: Double, heading: Double) -> (x: Double, y: Double) {
        let (sine, cosine) = (cmath_sin(heading + bias), cmath_cos(heading + bias))
        let (rawX, rawY) = (length * sine, length * cosine)
        let (dx, dy) = (rawX * scale, rawY * scale)
        x += dx
        y += dy
        wayLength += length * scale
        // What a change of bias and scale makes of this step: (dy, rawX) for x, (-dx, rawY) for y.
        let (oldXB, oldYB, oldXS, oldYS) = (xb, yb, xs, ys)
        xx += 2 * (dy * oldXB + rawX * oldXS) + dy * dy * bb + 2 * dy * rawX * bs + rawX * rawX * ss
        yy += 2 * (-dx * oldYB + rawY * oldYS) + dx * dx * bb - 2 * dx * rawY * bs + rawY * rawY * ss
        xy += dy * oldYB + rawX * oldYS - dx * oldXB + rawY * oldXS
        xy += -dx * dy * bb + (dy * rawY - dx * rawX) * bs + rawX * rawY * ss
        xb += dy * bb + rawX * bs
        yb += -dx * bb + rawY * bs
        xs += dy * bs + rawX * ss
        ys += -dx * bs + rawY * ss
        let along = Self.square(model.stepLength * length * scale)
        let across = Self.square(model.stepTurn * .pi / 180 * length * scale)
        xx += along * sine * sine + across * cosine * cosine
        yy += along * cosine * cosine + across * sine * sine
        xy += (along - across) * sine * cosine
        return (dx, dy)
    }

    /// Takes a step whose direction nobody knows.
    mutating func stepAnywhere(length: Double) {
        wayLength += length * scale
        let variance = Self.square(length * scale) / 2
        xx += variance
        yy += variance
    }

    /// Puts the place somewhere; what is known of heading and steps stays.
    mutating func set(x: Double, y: Double, radius: Double) {
        (self.x, self.y) = (x, y)
        let variance = Self.square(radius / PositionCovariance.radiusOfDeviation)
        (xx, xy, yy) = (variance, 0, variance)
        (xb, yb, xs, ys) = (0, 0, 0, 0)
        (startRadius, wayLength) = (radius, 0)
    }

    /// Moves the place; it is as uncertain as before.
    mutating func offset(x: Double, y: Double) {
        self.x += x
        self.y += y
    }

    /// Says how sure it is that the device points the way that is walked, as a standard deviation in radians.
    mutating func setBias(_ value: Double, deviation: Double) {
        bias = value
        bb = min(Self.square(deviation), Self.square(Self.largestBias))
        (xb, yb, bs) = (0, 0, 0)
    }

    /// Says how long a step is against what is measured.
    mutating func setScale(_ value: Double, deviation: Double) {
        scale = value
        ss = deviation * deviation
        (xs, ys, bs) = (0, 0, 0)
    }

    /// Compares the place with one that was told, and corrects heading and step length by the way since the last.
    mutating func correct(x toldX: Double, y toldY: Double, radius: Double) {
        let noise = Self.square(max(radius, 1e-3) / PositionCovariance.radiusOfDeviation)
        let (a, b, c) = (xx + noise, xy, yy + noise)
        let determinant = a * c - b * b
        guard determinant > 0, determinant.isFinite else { return }
        let (i, j, k) = (c / determinant, -b / determinant, a / determinant)
        let (u, v) = (toldX - x, toldY - y)
        /// The gain of a state from its covariance with the place.
        func gain(_ px: Double, _ py: Double) -> (x: Double, y: Double) { (px * i + py * j, px * j + py * k) }
        let (gx, gy, gb, gs) = (gain(xx, xy), gain(xy, yy), gain(xb, yb), gain(xs, ys))
        x += gx.x * u + gx.y * v
        y += gy.x * u + gy.y * v
        bias += gb.x * u + gb.y * v
        scale = min(max(scale + gs.x * u + gs.y * v, 0.4), 2.5)
        let old = (xx: xx, xy: xy, yy: yy, xb: xb, yb: yb, xs: xs, ys: ys)
        xx -= gx.x * old.xx + gx.y * old.xy
        xy -= gx.x * old.xy + gx.y * old.yy
        yy -= gy.x * old.xy + gy.y * old.yy
        xb -= gx.x * old.xb + gx.y * old.yb
        yb -= gy.x * old.xb + gy.y * old.yb
        xs -= gx.x * old.xs + gx.y * old.ys
        ys -= gy.x * old.xs + gy.y * old.ys
        bb = max(1e-6, bb - gb.x * old.xb - gb.y * old.yb)
        bs -= gb.x * old.xs + gb.y * old.ys
        ss = max(1e-6, ss - gs.x * old.xs - gs.y * old.ys)
        (startRadius, wayLength) = (PositionCovariance.radiusOfDeviation * (max(0, xx + yy) / 2).squareRoot(), 0)
    }
}
