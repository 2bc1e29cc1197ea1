import IndoorVocabulary

/// Keeps the range to every beacon that is heard, and forgets those that fell silent.
///
/// A value with time as an input: equal calls give equal results.
public struct Ranger: Sendable {
    /// How ranges are kept.
    public struct Settings: Hashable, Sendable {
        /// A beacon that was silent for this long is forgotten; above zero.
        public var silence: Duration = .seconds(5)
        /// Path-loss exponent of beacons without a model of their own.
        public var exponent = 2.0
        /// Shadowing in dB of beacons without a model of their own.
        public var shadowing = 4.0
        /// How RSSI is smoothed.
        public var filter = RSSIFilter.Settings()

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

    /// Creates a ranger that has heard nothing yet.
    ///
    /// - Parameters:
    ///   - settings: of the filter and the path-loss model.
    ///   - models: what is known of single beacons; it counts more than what they advertise.
    public init(settings: Settings = Settings(), models: [BeaconIdentity: PathLossModel] = [:]) {
        self.settings = settings
        self.models = models
    }

    /// Takes in a sighting; one whose RSSI is no measurement is ignored.
    public mutating func observe(_ sighting: Sighting) {
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

    /// Forgets the beacons that were silent for `settings.silence`. Linear in the number of beacons.
    public mutating func forgetSilent(at now: Instant) {
        tracks = tracks.filter { !isSilent($0.value, at: now) }
    }

    /// The ranges to all beacons that were not silent for too long, ordered by beacon.
    public func estimates(at now: Instant) -> [RangeEstimate] {
        tracks.keys.sorted().compactMap { estimate(of: $0, at: now) }
    }

    /// The range to one beacon; nil if it was not heard, or was silent for too long.
    public func estimate(of beacon: BeaconIdentity, at now: Instant) -> RangeEstimate? {
        guard let track = tracks[beacon], !isSilent(track, at: now) else { return nil }
        let deviation = track.filter.standardDeviation(at: now)
        return RangeEstimate(
            beacon: beacon, instant: track.filter.instant, rssi: track.filter.mean, rssiDeviation: deviation,
            distance: model(of: beacon, track)?.distance(rssi: track.filter.mean, deviation: deviation))
    }

    /// How many beacons are kept.
    public var count: Int { tracks.count }

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
    /// The settings of ranging, each once.
    package static let list: [Setting<Ranger.Settings>] = [
        .duration("silence", \.silence, above: .zero, "How long a beacon may be silent before it is discarded."),
        .number(
            "exponent", \.exponent, in: 0.5...10, "The path-loss exponent of beacons without a model of their own."),
        .number(
            "shadowing", \.shadowing, in: 0...50, unit: "dB", "The shadowing of beacons without a model of their own."),
        .number(
            "filter.measurementDeviation", \.filter.measurementDeviation, in: 0.01...50, unit: "dB",
            "The standard deviation of a single measurement."),
        .number(
            "filter.driftPerSecond", \.filter.driftPerSecond, in: 0.001...50, unit: "dB",
            "The drift of the true RSSI per second, as a standard deviation."),
        .number(
            "filter.outlierLimit", \.filter.outlierLimit, in: 0.1...1000,
            "The limit in standard deviations to which larger innovations are reduced."),
    ]
}
