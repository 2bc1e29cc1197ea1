import CMath

/// Whether the belief and the last seconds' evidence alone tell the same place.
///
/// If the model holds, they differ no more than their variances do: the belief knows what the last seconds tell, and
/// more. Where they differ by more, for a while, the belief is surer than it may be: the device is where nobody
/// surveyed, the map of the radio is old, or the belief has lost the device.
///
/// Source: J. A. Hausman, *Specification Tests in Econometrics*, Econometrica 46(6), 1978: the variance of the difference
/// between an estimate that uses all there is and one that doesn't is the difference of their variances.
package struct ConsistencyTest: Hashable, Sendable {
    private var ratios = 0.0
    private var weight = 0.0

    /// Seconds after which a look counts little.
    private static let memory = 30.0
    /// A walker's belief may be as wide as what the last seconds tell: at least this share of their variance is expected.
    private static let leastShare = 0.5

    /// Creates a check that has seen nothing.
    package init() {}

    /// Takes in a look.
    ///
    /// - Parameters:
    ///   - difference: metres between both mean places.
    ///   - latest: variance in m², along both axes together, of what the last seconds tell.
    ///   - belief: the same of the belief.
    ///   - seconds: since the look before.
    package mutating func observe(difference: Double, latest: Double, belief: Double, after seconds: Double) {
        let expected = max(latest - belief, Self.leastShare * latest)
        guard expected > 0, expected.isFinite, difference.isFinite else { return }
        let keep = cmath_exp(-max(0, seconds) / Self.memory)
        ratios = ratios * keep + difference * difference / expected
        weight = weight * keep + 1
    }

    /// The mean square of the difference against the one that is expected, of the last half minute; 0 before any look.
    package var ratio: Double { weight > 0 ? ratios / weight : 0 }
}
