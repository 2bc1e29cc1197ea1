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
