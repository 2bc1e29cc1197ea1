import IndoorVocabulary

/// A positioning method.
public enum PositioningMethod: String, Hashable, Sendable, CaseIterable {
    /// A particle filter over time; the default and the most accurate method.
    case particle
    /// The mean of the grid posterior from the last seconds' readings alone; not the nearest fingerprints of the survey.
    case fingerprint
    /// Robust least squares from the last seconds' readings alone: on the distances to anchors if at least three are
    /// measured, otherwise on the RSSI of beacons.
    case trilateration
}

/// The settings of the positioning engine.
public struct PositioningSettings: Hashable, Sendable {
    /// The positioning method.
    public var method: PositioningMethod = .particle
    /// The number of particles, from 100 to 1,000,000.
    public var particleCount = 1500
    /// The parameters of the measurement model.
    public var signal = SignalModel()
    /// The parameters of the measurement model of distances to anchors.
    public var ranges = RangeModel()
    /// The parameters of the motion model.
    public var motion = MotionModel()
    /// The resampling scheme and its threshold.
    public var resampling = Resampling()
    /// The time in seconds between two global updates, which search the whole venue for a lost position, in [0.1, 60].
    package var globalUpdateInterval = Expert.globalUpdateInterval
    /// The share of the particles that a global update replaces, in [0, 1].
    package var recoveryShare = Expert.recoveryShare
    /// Weight of the evidence for the floor, in [0, 10]; 1 uses the full likelihood. The default is below 1 because
    /// successive readings share their errors: with full weight, the engine would accept a wrong floor after a few
    /// readings.
    package var levelShare = Expert.levelShare
    /// The weight per second of the prior over places (survey, walkable areas), in [0, 10].
    package var priorShare = Expert.priorShare
    /// The minimum radius in metres, even if the filter is certain, in [0, 1000].
    package var radiusFloor = Expert.radiusFloor
    /// The factor on the 68 % radius of the particles that gives the reported radius, in [0, 100].
    package var radiusFactor = Expert.radiusFactor
    /// Inflation of the radius when the belief disagrees with the last seconds' evidence, in [0, 100]. The variance is
    /// multiplied by this value times the ratio of the observed to the expected squared difference, if the product is
    /// more than 1. Because the belief includes the last seconds' evidence, a ratio of 0.5 is already large. 0 disables
    /// the inflation.
    package var radiusInflation = Expert.radiusInflation
    /// The beacons that the engine tests against the other beacons; a beacon that contradicts them loses weight.
    ///
    /// The test needs five received beacons; with fewer, the radius grows if they contradict each other.
    public var testedBeacons: TestedBeacons = .surveyed

    /// Creates the settings with their defaults.
    public init() {}
}

extension PositioningSettings {
    /// The settings of the engine.
    package static let list: [Setting<PositioningSettings>] = {
        var list = publicList + expertList
        list += SignalModel.list.map { $0.within("signal", \.signal) }
        list += RangeModel.list.map { $0.within("ranges", \.ranges) }
        list += MotionModel.list.map { $0.within("motion", \.motion) }
        list += Resampling.list.map { $0.within("resampling", \.resampling) }
        return list
    }()

    private static let publicList: [Setting<PositioningSettings>] = [
        .choice(
            "method", \.method, fromWorst: [.trilateration, .fingerprint, .particle],
            "The positioning method: a filter over time, or an estimate from the last seconds alone."),
        .wholeNumber(
            "particleCount", \.particleCount, in: 100...1_000_000, better: .greater, "The number of particles."),
        .choice(
            "testedBeacons", \.testedBeacons,
            "The beacons that are tested against the others, and weigh less if they contradict them."),
    ]
}
