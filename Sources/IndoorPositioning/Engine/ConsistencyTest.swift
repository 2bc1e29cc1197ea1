import CMath

/// A test of whether the belief is consistent with the evidence of the last seconds alone.
///
/// If the model holds, the two positions differ by no more than their variances predict, because the belief includes
/// the evidence of the last seconds. A persistent larger difference shows that the belief is overconfident: the device
/// is outside the surveyed area, the radio map is outdated, or the filter has lost the device.
///
/// Source: J. A. Hausman, *Specification Tests in Econometrics*, Econometrica 46(6), 1978: the variance of the
/// difference between an efficient estimate and an inefficient one is the difference of their variances.
package struct ConsistencyTest: Hashable, Sendable {
    /// The weighted sum of the ratios, and the sum of the weights.
    private(set) var ratios = 0.0
    private(set) var weight = 0.0

    /// Time constant in seconds of the exponential average.
    private static let memory = 30.0
    /// Lower bound of the expected variance as a share of the latest evidence's variance: a walker's belief can be as
    /// wide as the latest evidence.
    private static let leastShare = 0.5

    /// Creates a test without comparisons.
    package init() {}

    /// Creates a test with the sums of an earlier one.
    init(ratios: Double, weight: Double) { (self.ratios, self.weight) = (ratios, weight) }

    /// Adds a comparison.
    ///
    /// - Parameters:
    ///   - difference: distance in metres between the two mean positions.
    ///   - latest: variance in m², summed over both axes, from the last seconds' evidence.
    ///   - belief: variance in m², summed over both axes, of the belief.
    ///   - seconds: time since the previous comparison.
    package mutating func observe(difference: Double, latest: Double, belief: Double, after seconds: Double) {
        let expected = max(latest - belief, Self.leastShare * latest)
        guard expected > 0, expected.isFinite, difference.isFinite else { return }
        let keep = cmath_exp(-max(0, seconds) / Self.memory)
        ratios = ratios * keep + difference * difference / expected
        weight = weight * keep + 1
    }

    /// Whether there was a comparison.
    package var hasComparison: Bool { weight > 0 }

    /// The ratio of the mean squared difference to its expected value over the last half minute; 0 before any
    /// comparison.
    package var ratio: Double { weight > 0 ? ratios / weight : 0 }
}
