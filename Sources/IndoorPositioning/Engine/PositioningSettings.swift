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
    /// How the place is found.
    public var method: PositioningMethod = .particle
    /// Number of particles, from 100 to 1,000,000.
    public var particleCount = 1500
    /// The measurement model's numbers.
    public var signal = SignalModel()
    /// The motion model's numbers.
    public var motion = MotionModel()
    /// When and how particles are drawn anew.
    public var resampling = Resampling()
    /// Seconds between two looks at the whole venue for places that the filter may have lost, in [0.1, 60].
    public var globalUpdateInterval = 2.0
    /// Share of the particles that such a look replaces, in [0, 1].
    public var recoveryShare = 0.03
    /// How much of the evidence counts for the level, in [0, 10]; 1 takes it as it is. Below 1, as readings that follow each
    /// other share their errors: a level that is wrong by them alone would be believed after a few.
    public var levelShare = 0.25
    /// How much the expectation of places (survey, walkable areas) counts within a second, in [0, 10].
    public var priorShare = 0.2
    /// Metres of error that remain even if the filter is certain, in [0, 1000].
    public var radiusFloor = 0.8
    /// What the spread of the particles is multiplied with to give a radius, in [0, 100].
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
            "How the place is found: by a filter over time, or from the last seconds alone."),
        .wholeNumber(
            "particleCount", \.particleCount, in: 100...1_000_000, better: .greater, "Number of particles."),
        .number(
            "globalUpdateInterval", \.globalUpdateInterval, in: 0.1...60, unit: "s", better: .smaller,
            "Time between two looks at the whole venue for places that the filter may have lost."),
        .number(
            "recoveryShare", \.recoveryShare, in: 0...1, "Share of the particles that such a look replaces."),
        .number(
            "levelShare", \.levelShare, in: 0...10,
            "How much of the evidence counts for the level, as successive readings share their errors; 1 takes all of it."
        ),
        .number(
            "priorShare", \.priorShare, in: 0...10,
            "How much the expectation of places (survey, walkable areas) counts within a second."),
        .number(
            "radiusFloor", \.radiusFloor, in: 0...1000, unit: "m",
            "Error that remains even if the filter is certain."),
        .number(
            "radiusFactor", \.radiusFactor, in: 0...100,
            "What the spread of the particles is multiplied with to give a radius."),
        .number(
            "radiusInflation", \.radiusInflation, in: 0...100,
            "How soon a belief that disagrees with the last seconds' evidence gets a larger radius; 0 is never."),
    ]
}
