import CMath
import IndoorVocabulary

/// An estimator of the ranges to all received beacons; a beacon that is no longer received expires.
///
/// The estimator is a value, and the caller passes the time: the same calls give the same results.
public struct Ranger: Sendable {
    /// The settings of ranging.
    public struct Settings: Hashable, Sendable {
        /// The time without a reception after which a beacon expires; above zero.
        public var silence: Duration = .seconds(5)
        /// The path-loss exponent of beacons without their own model.
        package var exponent = 2.0
        /// The shadowing in dB of beacons without their own model.
        package var shadowing = 4.0
        /// The settings of the RSSI filter.
        package var filter = RSSIFilter.Settings()

        /// Creates settings with their defaults.
        public init() {}
    }

    private struct Track {
        var filter: RSSIFilter
        var advertisedPower: Double?
    }

    private let settings: Settings
    private let models: [BeaconIdentity: PathLossModel]
    private var tracks: [BeaconIdentity: Track] = [:]

    /// Creates a ranger without beacons.
    ///
    /// - Parameters:
    ///   - settings: the settings of the filter and the path-loss model.
    ///   - models: the models of individual beacons; they have priority over the power that the beacons advertise.
    package init(settings: Settings = Settings(), models: [BeaconIdentity: PathLossModel] = [:]) {
        self.settings = settings
        self.models = models
    }

    /// Handles a sighting; ignores one whose RSSI is not a measurement.
    package mutating func observe(_ sighting: Sighting) {
        guard sighting.hasMeasurement else { return }
        var track: Track
        if let known = tracks[sighting.beacon], !isSilent(known, at: sighting.instant) {
            track = known
            track.filter.update(rssi: sighting.rssi, at: sighting.instant)
        } else {
            track = Track(
                filter: RSSIFilter(rssi: sighting.rssi, at: sighting.instant, settings: settings.filter))
        }
        track.advertisedPower = sighting.measuredPower ?? track.advertisedPower
        tracks[sighting.beacon] = track
    }

    /// Removes the beacons that were silent for `settings.silence`. The time is linear in the number of beacons.
    package mutating func forgetSilent(at now: Instant) {
        tracks = tracks.filter { !isSilent($0.value, at: now) }
    }

    /// Returns the ranges to all beacons that have not expired, ordered by beacon.
    package func estimates(at now: Instant) -> [RangeEstimate] {
        tracks.keys.sorted().compactMap { estimate(of: $0, at: now) }
    }

    /// Returns the range to one beacon; nil if it was not received, or has expired.
    package func estimate(of beacon: BeaconIdentity, at now: Instant) -> RangeEstimate? {
        guard let track = tracks[beacon], !isSilent(track, at: now) else { return nil }
        let deviation = track.filter.standardDeviation(at: now)
        return RangeEstimate(
            beacon: beacon, instant: track.filter.instant, rssi: track.filter.mean, rssiDeviation: deviation,
            distance: model(of: beacon, track)?.distance(rssi: track.filter.mean, deviation: deviation))
    }

    /// The number of stored beacons.
    package var count: Int { tracks.count }

    private func isSilent(_ track: Track, at now: Instant) -> Bool {
        track.filter.instant.duration(to: now) >= settings.silence
    }

    private func model(of beacon: BeaconIdentity, _ track: Track) -> PathLossModel? {
        models[beacon]
            ?? track.advertisedPower.map {
                PathLossModel(measuredPower: $0, exponent: settings.exponent, shadowing: settings.shadowing)
            }
    }
}

extension Ranger.Settings {
    /// The list of the settings of ranging.
    package static let list: [Setting<Ranger.Settings>] = [
        .duration("silence", \.silence, above: .zero, "How long a beacon may be silent before it is discarded."),
        .number(
            "exponent", \.exponent, in: 0.5...10, "The path-loss exponent of beacons without a model of their own."
        ).expert(.estimate),
        .number(
            "shadowing", \.shadowing, in: 0...50, unit: "dB", "The shadowing of beacons without a model of their own."
        ).expert(.estimate),
        .number(
            "filter.measurementDeviation", \.filter.measurementDeviation, in: 0.01...50, unit: "dB",
            "The standard deviation of a single measurement."
        ).expert(.estimate),
        .number(
            "filter.driftPerSecond", \.filter.driftPerSecond, in: 0.001...50, unit: "dB",
            "The drift of the true RSSI per second, as a standard deviation."
        ).expert(.estimate),
        .number(
            "filter.outlierLimit", \.filter.outlierLimit, in: 0.1...1000,
            "The limit in standard deviations to which larger innovations are reduced."
        ).expert(.estimate),
    ]
}

/// The estimated range to one beacon.
public struct RangeEstimate: Hashable, Sendable {
    /// The beacon.
    public var beacon: BeaconIdentity
    /// The time of its latest reception.
    public var instant: Instant
    /// The filtered RSSI in dBm.
    public var rssi: Double
    /// The standard deviation of `rssi` in dB; it grows while the beacon is silent.
    package var rssiDeviation: Double
    /// The distance; nil if the measured power of the beacon is unknown.
    public var distance: DistanceEstimate?

    /// Creates an estimate from its parts, without checks.
    public init(
        beacon: BeaconIdentity, instant: Instant, rssi: Double, rssiDeviation: Double, distance: DistanceEstimate?
    ) {
        self.beacon = beacon
        self.instant = instant
        self.rssi = rssi
        self.rssiDeviation = rssiDeviation
        self.distance = distance
    }

    /// The proximity for the distance; nil if it is unknown.
    public var proximity: Proximity? { distance?.proximity }
}

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

/// A category of distance. The proximity of an unknown distance is nil.
public enum Proximity: String, Hashable, Sendable, CaseIterable, Comparable {
    /// Less than half a metre.
    case immediate
    /// From half a metre to three metres, both included.
    case near
    /// More than three metres.
    case far

    /// Creates the proximity for a distance in metres.
    package init(meters: Double) {
        self = meters < 0.5 ? .immediate : meters <= 3 ? .near : .far
    }

    public static func < (left: Proximity, right: Proximity) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .immediate: 0
        case .near: 1
        case .far: 2
        }
    }
}

/// A model of a beacon's RSSI by distance: the log-distance model with log-normal shadowing.
///
///     rssi(d) = P₁ − 10 n log₁₀(d / 1 m) + X,   X normal with standard deviation σ
///
/// Source: T. S. Rappaport, *Wireless Communications: Principles and Practice*, 2nd edition, 2002, section 4.9.
package struct PathLossModel: Hashable, Sendable {
    /// P₁: signal strength at 1 m, in dBm.
    package var measuredPower: Double
    /// n: the path-loss exponent, above 0; 2 in free space, below 2 along corridors, 2.5 to 4 through walls and people.
    package var exponent: Double
    /// σ: the standard deviation in dB between places, because of walls and people; 0 or above.
    package var shadowing: Double

    /// Creates a model.
    ///
    /// - Parameters:
    ///   - measuredPower: dBm at 1 m, finite.
    ///   - exponent: from 0.5 to 10; values outside are clamped.
    ///   - shadowing: dB, from 0 to 30; values outside are clamped. 4 dB is usual in offices.
    package init(measuredPower: Double, exponent: Double = 2, shadowing: Double = 4) {
        self.measuredPower = measuredPower
        self.exponent = min(max(exponent, 0.5), 10)
        self.shadowing = min(max(shadowing, 0), 30)
    }

    /// Returns the expected RSSI in dBm at a distance in metres; distances below 1 cm are treated as 1 cm.
    package func rssi(at distance: Double) -> Double {
        measuredPower - 10 * exponent * cmath_log10(max(distance, 0.01))
    }

    /// Estimates the distance for an RSSI.
    ///
    /// - Parameters:
    ///   - rssi: dBm.
    ///   - deviation: the standard deviation of `rssi` in dB, without shadowing.
    package func distance(rssi: Double, deviation: Double) -> DistanceEstimate {
        let decibels = (deviation * deviation + shadowing * shadowing).squareRoot()
        let logarithmic = decibels * cmath_log(10) / (10 * exponent)
        return DistanceEstimate(
            median: cmath_pow(10, (measuredPower - rssi) / (10 * exponent)), logarithmicDeviation: logarithmic)
    }
}

/// A filter that smooths one beacon's RSSI over time: single outliers change the result little, and a persistent change
/// changes it fully.
///
/// The filter is a Kalman filter of a random walk that reduces the weight of innovations beyond a limit. Each
/// measurement has its own time, so the intervals between advertisements may vary. Sources: R. E. Kalman, *A New
/// Approach to Linear Filtering and Prediction Problems*, 1960; C. J. Masreliez and R. D. Martin, *Robust Bayesian
/// Estimation for the Linear Model and Robustifying the Kalman Filter*, 1977.
package struct RSSIFilter: Hashable, Sendable {
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

    /// Creates a filter with settings and a first measurement in dBm.
    package init(rssi: Double, at instant: Instant, settings: Settings = Settings()) {
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
        let elapsed = max(0, instant.seconds(to: now))
        return variance + settings.driftPerSecond * settings.driftPerSecond * elapsed
    }
}
