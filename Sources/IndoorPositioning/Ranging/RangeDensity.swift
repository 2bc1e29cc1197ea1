import CMath

/// The probability density of the error of a distance.
///
/// With a share of `1 - excessShare`, the error is normal. With `excessShare`, the direct path is blocked, and the
/// error is the excess length of a reflection. Within one building, the excess is exponential, but its mean differs
/// greatly between buildings. A mean with an inverse gamma distribution gives a Lomax distribution, here with the
/// exponent 2: long reflections are more probable than with a known mean. One reading in a thousand is assumed to be
/// arbitrary, so that no single reading excludes a place. Sources: D. B. Jourdan, D. Dardari, M. Z. Win, *Position
/// Error Bound for UWB Localization in Dense Cluttered Environments*, IEEE Transactions on Aerospace and Electronic
/// Systems 44(2), 2008, for the positive errors of blocked paths; K. S. Lomax, *Business Failures: Another Example of
/// the Analysis of Failure Data*, JASA 49(268), 1954.
package struct RangeDensity: Sendable {
    private let inverseDeviation: Float
    private let coreScale: Float
    private let tailScale: Float
    private let inverseExcess: Float

    /// The share of arbitrary readings, and the range of distances in metres over which they are spread.
    private static let wrongShare = 1e-3
    private static let wrongSpan = 50.0
    private static let wrong = Float(wrongShare / wrongSpan)
    /// The number of standard deviations beyond which the normal density is below the density of an arbitrary reading.
    private static let reach: Float = 8
    /// The factor by which the logistic function approximates the normal distribution function to 0.01.
    private static let logistic: Float = 1.702

    /// - Parameters:
    ///   - deviation: standard deviation of the normal error in metres, above 0.
    ///   - excess: mean excess of a reflected path in metres, above 0.
    ///   - excessShare: the share of reflected paths, in [0, 1].
    package init(deviation: Double, excess: Double, excessShare: Double) {
        inverseDeviation = Float(1 / deviation)
        inverseExcess = Float(1 / excess)
        coreScale = Float((1 - excessShare) * (1 - Self.wrongShare) / (deviation * (2 * Double.pi).squareRoot()))
        // The integral is 1 if the tail is flat over the deviation: the distribution function of the normal error
        // replaces the step at 0, and adds as much below 0 as it removes above 0.
        tailScale = Float(2 * excessShare * (1 - Self.wrongShare) / excess)
    }

    /// Returns the density at an error in metres.
    @inline(__always)
    package func value(at error: Float) -> Float {
        let scaled = error * inverseDeviation
        var value = Self.wrong
        if abs(scaled) < Self.reach { value += coreScale * cmath_expf(-scaled * scaled / 2) }
        guard scaled > -Self.reach else { return value }
        let length = 1 + max(error, 0) * inverseExcess
        let tail = tailScale / (length * length * length)
        return value + (scaled > Self.reach ? tail : tail / (1 + cmath_expf(-Self.logistic * scaled)))
    }
}
