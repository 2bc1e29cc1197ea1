import IndoorVocabulary

/// A filter that smooths one beacon's RSSI over time: single outliers change the result little, and a persistent change
/// changes it fully.
///
/// The filter is a Kalman filter of a random walk that reduces the weight of innovations beyond a limit. Each
/// measurement has its own time, so the intervals between advertisements may vary. Sources: R. E. Kalman, *A New
/// Approach to Linear Filtering and Prediction Problems*, 1960; C. J. Masreliez and R. D. Martin, *Robust Bayesian
/// Estimation for the Linear Model and Robustifying the Kalman Filter*, 1977.
public struct RSSIFilter: Hashable, Sendable {
    /// The settings of a filter.
    package struct Settings: Hashable, Sendable {
        /// The standard deviation of a single measurement in dB, above 0.
        ///
        /// The default is about the fast fading of advertisements on three alternating channels.
        package var measurementDeviation = 5.0
        /// The change of the true RSSI per second, as a standard deviation in dB, above 0.
        ///
        /// At a distance of 4 m and a speed of 1 m/s directly towards or away from a beacon, free-space loss changes by
        /// about 2 dB per second.
        package var driftPerSecond = 2.0
        /// The limit of an innovation in standard deviations; the filter reduces the weight of larger innovations to
        /// this limit.
        ///
        /// 1.345 keeps 95 % of the efficiency under Gaussian noise (P. J. Huber, *Robust Estimation of a Location
        /// Parameter*, 1964). Fading is one-sided and has heavier tails. With 2, the filter accepts a step soon,
        /// instead of treating it as an outlier for long.
        package var outlierLimit = 2.0

        /// Creates settings with their defaults.
        package init() {}
    }

    /// The filtered RSSI in dBm.
    package private(set) var mean: Double
    /// The time of the latest measurement.
    package private(set) var instant: Instant

    private let settings: Settings
    private var variance: Double

    /// Creates a filter with a first measurement in dBm.
    public init(rssi: Double, at instant: Instant) {
        self.init(rssi: rssi, at: instant, settings: Settings())
    }

    /// Creates a filter with settings and a first measurement in dBm.
    package init(rssi: Double, at instant: Instant, settings: Settings) {
        self.settings = settings
        self.instant = instant
        mean = rssi
        variance = settings.measurementDeviation * settings.measurementDeviation
    }

    /// Updates the filter with a measurement in dBm. A measurement older than the latest one is treated as
    /// simultaneous with it.
    package mutating func update(rssi: Double, at now: Instant) {
        let predicted = predictedVariance(at: now)
        let noise = settings.measurementDeviation * settings.measurementDeviation
        let innovation = rssi - mean
        let limit = settings.outlierLimit * (predicted + noise).squareRoot()
        let weight = abs(innovation) > limit ? limit / abs(innovation) : 1
        let gain = predicted / (predicted + noise)
        mean += gain * weight * innovation
        // The weight also limits the effect of an outlier on the variance.
        variance = predicted * (1 - gain * weight)
        instant = max(instant, now)
    }

    /// Returns the standard deviation of the filtered RSSI in dB; it grows between measurements.
    package func standardDeviation(at now: Instant) -> Double { predictedVariance(at: now).squareRoot() }

    private func predictedVariance(at now: Instant) -> Double {
        let elapsed = max(0, instant.duration(to: now).seconds)
        return variance + settings.driftPerSecond * settings.driftPerSecond * elapsed
    }
}
