import CMath
import VenueModel

/// An estimator of a pedestrian's position, which adds steps to a start and tracks the growing uncertainty.
///
/// An extended Kalman filter. Its state is the position, the angle between the device's heading and the direction of
/// walking, and the ratio of the true step length to the measured one. Errors of the angle and of the ratio affect the
/// whole path, so the uncertainty grows with the distance from the start. A later measured position corrects the angle
/// and the ratio, too. Source: R. Harle, *A Survey of Indoor Inertial Positioning Systems for Pedestrians*, IEEE
/// Communications Surveys & Tutorials 15(3), 2013, section V.
struct PedestrianEKF: Hashable, Sendable {
    /// Metres to the right of the frame's origin.
    private(set) var x = 0.0
    /// Metres ahead of the frame's origin.
    private(set) var y = 0.0
    /// The angle in radians clockwise from the device's heading to the direction of walking.
    private(set) var bias = 0.0
    /// The ratio of the true step length to the measured one.
    private(set) var scale: Double

    // The state's covariance: position, bias (b) and scale (s).
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

    /// The radius of the start in metres, and the length of the path since then: the error is at most their sum.
    private var startRadius = 0.0
    private var wayLength = 0.0
    private let model: MotionModel

    /// The maximum standard deviation of the direction of walking, which stands for an unknown direction: a quarter
    /// turn.
    private static let largestBias = Double.pi / 2

    /// Creates a position at the origin.
    init(model: MotionModel, scale: Double = 1, scaleDeviation: Double? = nil) {
        self.model = model
        self.scale = scale
        let deviation = scaleDeviation ?? model.stepScale
        ss = deviation * deviation
        bb = Self.square(model.headingBias * .pi / 180)
    }

    private static func square(_ value: Double) -> Double { value * value }

    /// The 68 % error radius in metres.
    var radius: Double {
        let spread = PositionCovariance.radiusOfDeviation * (max(0, xx + yy) / 2).squareRoot()
        return min(spread, startRadius + wayLength * (1 + 2 * model.stepScale))
    }

    /// Increases the uncertainty of the bias for the elapsed time.
    mutating func pass(seconds: Double) {
        bb = min(bb + Self.square(model.headingDrift * .pi / 180) * max(0, seconds), Self.square(Self.largestBias))
    }

    /// Moves the position by a step with a measured length in metres and the device's heading in radians clockwise
    /// from y.
    ///
    /// - Returns: the displacement.
    @discardableResult mutating func step(length: Double, heading: Double) -> (x: Double, y: Double) {
        let (sine, cosine) = (cmath_sin(heading + bias), cmath_cos(heading + bias))
        let (rawX, rawY) = (length * sine, length * cosine)
        let (dx, dy) = (rawX * scale, rawY * scale)
        x += dx
        y += dy
        wayLength += length * scale
        // The derivatives of this step with respect to bias and scale: (dy, rawX) for x, (-dx, rawY) for y.
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

    /// Handles a step in an unknown direction.
    mutating func stepAnywhere(length: Double) {
        wayLength += length * scale
        let variance = Self.square(length * scale) / 2
        xx += variance
        yy += variance
    }

    /// Sets the position; bias and scale stay.
    mutating func set(x: Double, y: Double, radius: Double) {
        (self.x, self.y) = (x, y)
        let variance = Self.square(radius / PositionCovariance.radiusOfDeviation)
        (xx, xy, yy) = (variance, 0, variance)
        (xb, yb, xs, ys) = (0, 0, 0, 0)
        (startRadius, wayLength) = (radius, 0)
    }

    /// Moves the position; its uncertainty stays.
    mutating func offset(x: Double, y: Double) {
        self.x += x
        self.y += y
    }

    /// Sets the angle to the direction of walking and its standard deviation, in radians.
    mutating func setBias(_ value: Double, deviation: Double) {
        bias = value
        bb = min(Self.square(deviation), Self.square(Self.largestBias))
        (xb, yb, bs) = (0, 0, 0)
    }

    /// Sets the ratio of the true step length to the measured one, and its standard deviation.
    mutating func setScale(_ value: Double, deviation: Double) {
        scale = value
        ss = deviation * deviation
        (xs, ys, bs) = (0, 0, 0)
    }

    /// Corrects position, bias and scale with a measured position.
    mutating func correct(x toldX: Double, y toldY: Double, radius: Double) {
        let noise = Self.square(max(radius, 1e-3) / PositionCovariance.radiusOfDeviation)
        let (a, b, c) = (xx + noise, xy, yy + noise)
        let determinant = a * c - b * b
        guard determinant > 0, determinant.isFinite else { return }
        let (i, j, k) = (c / determinant, -b / determinant, a / determinant)
        let (u, v) = (toldX - x, toldY - y)
        /// Returns the gain of a state from its covariance with the position.
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
