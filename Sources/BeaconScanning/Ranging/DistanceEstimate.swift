import CMath

/// An estimated distance to a beacon: a log-normal distribution.
public struct DistanceEstimate: Hashable, Sendable {
    /// The median of the distance in metres.
    public var meters: Double
    /// The standard deviation of the distance in metres. The distribution is skewed towards longer distances.
    package var standardDeviation: Double
    /// Half the width in metres of the interval that contains the true distance 68 % of the time.
    public var accuracy: Double

    /// Creates an estimate from the median in metres and the standard deviation of the distance's natural logarithm.
    init(median: Double, logarithmicDeviation: Double) {
        let variance = logarithmicDeviation * logarithmicDeviation
        meters = median
        standardDeviation = median * (cmath_exp(variance) * (cmath_exp(variance) - 1)).squareRoot()
        accuracy = median * (cmath_exp(logarithmicDeviation) - cmath_exp(-logarithmicDeviation)) / 2
    }

    /// The proximity for the distance.
    public var proximity: Proximity { Proximity(meters: meters) }
}
