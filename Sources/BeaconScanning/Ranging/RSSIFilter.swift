import IndoorVocabulary

/// Smooths one beacon's RSSI over time; single outliers move it little, a lasting change moves it all the way.
///
/// A Kalman filter of a random walk, whose innovations beyond a limit are weighted down. Time comes in with each
/// measurement, so that irregular advertising is no problem. Sources: R. E. Kalman, *A New Approach to Linear Filtering
/// and Prediction Problems*, 1960; C. J. Masreliez and R. D. Martin, *Robust Bayesian Estimation for the Linear Model
/// and Robustifying the Kalman Filter*, 1977.
public struct RSSIFilter: Hashable, Sendable {
    /// How the filter weighs old and new.
    public struct Settings: Hashable, Sendable {
        /// Standard deviation of a single measurement in dB, above 0.
        ///
        /// About what fast fading does to advertisements that change between three channels.
        public var measurementDeviation = 5.0
        /// How far the true RSSI wanders in a second, as a standard deviation in dB, above 0.
        ///
        /// At 4 m from a beacon and 1 m/s straight on, free space changes by about 2 dB a second.
        public var driftPerSecond = 2.0
        /// Innovations beyond this many standard deviations are weighted down to that many.
        ///
        /// 1.345 keeps 95 % of the efficiency under Gaussian noise (P. J. Huber, *Robust Estimation of a Location
        /// Parameter*, 1964); fading is one-sided and heavier, and 2 keeps a step from being taken for an outlier long.
        public var outlierLimit = 2.0

        /// Creates settings with their defaults.
        public init() {}
    }

    /// The filtered RSSI in dBm.
    public private(set) var mean: Double
    /// When it was measured last.
    public private(set) var instant: Instant

    private let settings: Settings
    private var variance: Double

    /// Begins with a first measurement in dBm.
    public init(rssi: Double, at instant: Instant, settings: Settings = Settings()) {
        self.settings = settings
        self.instant = instant
        mean = rssi
        variance = settings.measurementDeviation * settings.measurementDeviation
    }

    /// Takes in a measurement in dBm. One that is older than the last one counts as if it came with it.
    public mutating func update(rssi: Double, at now: Instant) {
        let predicted = predictedVariance(at: now)
        let noise = settings.measurementDeviation * settings.measurementDeviation
        let innovation = rssi - mean
        let limit = settings.outlierLimit * (predicted + noise).squareRoot()
        let weight = abs(innovation) > limit ? limit / abs(innovation) : 1
        let gain = predicted / (predicted + noise)
        mean += gain * weight * innovation
        // The weight also bounds what an outlier teaches about the variance.
        variance = predicted * (1 - gain * weight)
        instant = max(instant, now)
    }

    /// Standard deviation of the filtered RSSI in dB; it grows while nothing is heard.
    public func standardDeviation(at now: Instant) -> Double { predictedVariance(at: now).squareRoot() }

    private func predictedVariance(at now: Instant) -> Double {
        let elapsed = max(0, instant.duration(to: now).seconds)
        return variance + settings.driftPerSecond * settings.driftPerSecond * elapsed
    }
}
