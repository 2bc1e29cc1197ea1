import CMath

/// The covariance matrix of the error of a point along the axes of its map, in m².
public struct PositionCovariance: Hashable, Sendable {
    /// The variance along the map's x axis.
    public var xx: Double
    /// The covariance of both axes.
    public var xy: Double
    /// The variance along the map's y axis.
    public var yy: Double

    /// The 68 % radius of a two-dimensional normal distribution, in standard deviations along one axis: √(−2 ln 0.32).
    package static let radiusOfDeviation = 1.51

    /// An ellipse around a point.
    public struct Ellipse: Hashable, Sendable {
        /// The semi-major axis in metres.
        public var semiMajorAxis: Double
        /// The semi-minor axis in metres.
        public var semiMinorAxis: Double
        /// The direction of the major axis in degrees clockwise from the plan's top, in [0, 180).
        public var direction: Double
    }

    /// Creates a covariance matrix, with values in m².
    public init(xx: Double, xy: Double, yy: Double) {
        self.xx = xx
        self.xy = xy
        self.yy = yy
    }

    /// Returns the ellipse that contains the true position with a probability in (0, 1), if the error is normally
    /// distributed; nil if the matrix isn't a valid covariance, or if the probability is out of range.
    ///
    /// The edge is √(−2 ln(1 − p)) standard deviations from the centre, because the squared distance in standard
    /// deviations has a χ² distribution with two degrees of freedom.
    public func ellipse(probability: Double = 0.68) -> Ellipse? {
        let (mean, half) = ((xx + yy) / 2, (xx - yy) / 2)
        let spread = cmath_hypot(half, xy)
        guard probability > 0, probability < 1, spread.isFinite, mean - spread >= -1e-9 * mean else { return nil }
        let scale = -2 * cmath_log(1 - probability)
        // The plan's y axis points down: an angle from the x axis is clockwise, and the plan's top is 90°
        // counter-clockwise from the x axis.
        let angle = 0.5 * cmath_atan2(2 * xy, xx - yy) * 180 / .pi + 90
        return Ellipse(
            semiMajorAxis: (scale * (mean + spread)).squareRoot(),
            semiMinorAxis: (scale * max(0, mean - spread)).squareRoot(),
            direction: angle >= 180 ? angle - 180 : angle)
    }
}
