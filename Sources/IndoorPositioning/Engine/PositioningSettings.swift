import IndoorVocabulary

/// How the engine finds the place.
public enum PositioningMethod: String, Hashable, Sendable, CaseIterable {
    /// A particle filter over time: the default and the best.
    case particle
    /// The mean of the grid posterior of the last seconds, without memory.
    case fingerprint
    /// Robust least squares on the beacons' places, without memory.
    case trilateration
}

/// The engine's settings, with their defaults.
public struct PositioningSettings: Hashable, Sendable {
    /// The positioning method.
    public var method: PositioningMethod = .particle
    /// The number of particles, from 100 to 1,000,000.
    public var particleCount = 1500
    /// The measurement model's numbers.
    public var signal = SignalModel()
    /// The motion model's numbers.
    public var motion = MotionModel()
    /// When and how particles are drawn anew.
    public var resampling = Resampling()
    /// The time in seconds between two global updates, which search the whole venue for a lost position, in [0.1, 60].
    public var globalUpdateInterval = 2.0
    /// The share of the particles that a global update replaces, in [0, 1].
    public var recoveryShare = 0.03
    /// How much of the evidence counts for the level, in [0, 10]; 1 takes it as it is. Below 1, as readings that follow each
    /// other share their errors: a level that is wrong by them alone would be believed after a few.
    public var levelShare = 0.25
    /// The weight per second of the prior over places (survey, walkable areas), in [0, 10].
    public var priorShare = 0.2
    /// The minimum radius in metres, even if the filter is certain, in [0, 1000].
    public var radiusFloor = 0.8
    /// The factor from the spread of the particles to the radius, in [0, 100].
    public var radiusFactor = 1.05
    /// How soon a belief that disagrees with the last seconds' evidence is doubted, in [0, 100]: its variance is
    /// multiplied with this and with how far they disagree against what is expected, if that is more than 1. As the
    /// belief holds the last seconds' evidence, too, half of what is expected is much already. 0 never doubts it.
    public var radiusInflation = 2.0

    /// Creates the settings with their defaults.
    public init() {}
}

extension PositioningSettings {
    /// The settings of the engine, each once.
    package static let list: [Setting<PositioningSettings>] = {
        var list = ownList
        list += SignalModel.list.map { $0.within("signal", \.signal) }
        list += MotionModel.list.map { $0.within("motion", \.motion) }
        list += Resampling.list.map { $0.within("resampling", \.resampling) }
        return list
    }()

    private static let ownList: [Setting<PositioningSettings>] = [
        .choice(
            "method", \.method, fromWorst: [.trilateration, .fingerprint, .particle],
            "The positioning method: a filter over time, or an estimate from the last seconds alone."),
        .wholeNumber(
            "particleCount", \.particleCount, in: 100...1_000_000, better: .greater, "The number of particles."),
        .number(
            "globalUpdateInterval", \.globalUpdateInterval, in: 0.1...60, unit: "s", better: .smaller,
            "The time between two global updates, which search the whole venue for a lost position."),
        .number(
            "recoveryShare", \.recoveryShare, in: 0...1, "The share of the particles that a global update replaces."),
        .number(
            "levelShare", \.levelShare, in: 0...10,
            "The weight of the evidence for the floor; below 1, because successive readings share their errors."
        ),
        .number(
            "priorShare", \.priorShare, in: 0...10,
            "The weight per second of the prior over places (survey, walkable areas)."),
        .number(
            "radiusFloor", \.radiusFloor, in: 0...1000, unit: "m",
            "The minimum radius, even if the filter is certain."),
        .number(
            "radiusFactor", \.radiusFactor, in: 0...100,
            "The factor from the spread of the particles to the radius."),
        .number(
            "radiusInflation", \.radiusInflation, in: 0...100,
            "How strongly the radius grows when the estimate disagrees with the latest evidence; 0 disables it."),
    ]
}
