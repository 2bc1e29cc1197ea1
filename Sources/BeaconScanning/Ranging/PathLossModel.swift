import CMath

/// A model of a beacon's RSSI by distance: the log-distance model with log-normal shadowing.
///
///     rssi(d) = P₁ − 10 n log₁₀(d / 1 m) + X,   X normal with standard deviation σ
///
/// Source: T. S. Rappaport, *Wireless Communications: Principles and Practice*, 2nd edition, 2002, section 4.9.
public struct PathLossModel: Hashable, Sendable {
    /// P₁: signal strength at 1 m, in dBm.
    public var measuredPower: Double
    /// n: the path-loss exponent, above 0; 2 in free space, below 2 along corridors, 2.5 to 4 through walls and people.
    public var exponent: Double
    /// σ: the standard deviation in dB between places, because of walls and people; 0 or above.
    public var shadowing: Double

    /// Creates a model.
    ///
    /// - Parameters:
    ///   - measuredPower: dBm at 1 m, finite.
    ///   - exponent: from 0.5 to 10; values outside are clamped.
    ///   - shadowing: dB, from 0 to 30; values outside are clamped. 4 dB is usual in offices.
    public init(measuredPower: Double, exponent: Double = 2, shadowing: Double = 4) {
        self.measuredPower = measuredPower
        self.exponent = min(max(exponent, 0.5), 10)
        self.shadowing = min(max(shadowing, 0), 30)
    }

    /// Returns the expected RSSI in dBm at a distance in metres; distances below 1 cm are treated as 1 cm.
    public func rssi(at distance: Double) -> Double {
        measuredPower - 10 * exponent * cmath_log10(max(distance, 0.01))
    }

    /// Estimates the distance for an RSSI.
    ///
    /// - Parameters:
    ///   - rssi: dBm.
    ///   - deviation: the standard deviation of `rssi` in dB, without shadowing.
    public func distance(rssi: Double, deviation: Double) -> DistanceEstimate {
        let decibels = (deviation * deviation + shadowing * shadowing).squareRoot()
        let logarithmic = decibels * cmath_log(10) / (10 * exponent)
        return DistanceEstimate(
            median: cmath_pow(10, (measuredPower - rssi) / (10 * exponent)), logarithmicDeviation: logarithmic)
    }
}
