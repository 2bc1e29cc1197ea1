import CMath

/// How far away a beacon is, as far as its signal tells: a log-normal distribution.
public struct DistanceEstimate: Hashable, Sendable {
    /// The distance in metres: as often too short as too long.
    public var meters: Double
    /// Standard deviation of the distance in metres. The distribution is skewed: its long side is the far one.
    public var standardDeviation: Double
    /// Half the width in metres of the interval that holds the true distance 68 times of 100.
    public var accuracy: Double

    /// Creates an estimate from the median in metres and the standard deviation of the distance's natural logarithm.
    init(median: Double, logarithmicDeviation: Double) {
        let variance = logarithmicDeviation * logarithmicDeviation
        meters = median
        standardDeviation = median * (cmath_exp(variance) * (cmath_exp(variance) - 1)).squareRoot()
        accuracy = median * (cmath_exp(logarithmicDeviation) - cmath_exp(-logarithmicDeviation)) / 2
    }

    /// The distance in words.
    public var proximity: Proximity { Proximity(meters: meters) }
}
