import IndoorVocabulary

/// A positioning method.
public enum PositioningMethod: String, Hashable, Sendable, CaseIterable {
    /// A particle filter over time; the default and the most accurate method.
    case particle
    /// The mean of the grid posterior from the last seconds' readings alone.
    case fingerprint
    /// Robust least squares on the beacons' positions, from the last seconds' readings alone.
    case trilateration
}

/// The settings of the positioning engine.
public struct PositioningSettings: Hashable, Sendable {
    /// The positioning method.
    public var method: PositioningMethod = .particle
    /// Number of particles, from 100 to 1,000,000.
    public var particleCount = 1500
    /// The parameters of the measurement model.
    public var signal = SignalModel()
    /// The parameters of the motion model.
    public var motion = MotionModel()
    /// The resampling scheme and its threshold.
    public var resampling = Resampling()
    /// Time in seconds between two global updates, which recover a lost position, in [0.1, 60].
    public var globalUpdateInterval = 2.0
    /// Share of the particles that a global update replaces, in [0, 1].
    public var recoveryShare = 0.03
    /// Weight of the evidence for the floor, in [0, 10]; 1 uses the full likelihood. The default is below 1 because
    /// successive readings share their errors: with full weight, the engine would accept a wrong floor after a few
    /// readings.
    public var levelShare = 0.25
    /// Weight per second of the position prior (survey, walkable areas), in [0, 10].
    public var priorShare = 0.2
    /// Lower bound of the error radius in metres, in [0, 1000].
    public var radiusFloor = 0.8
    /// Factor from the spread of the particles to the radius, in [0, 100].
    public var radiusFactor = 1.05
    /// Inflation of the radius when the belief disagrees with the last seconds' evidence, in [0, 100]. The variance is
    /// multiplied by this value times the ratio of the observed to the expected squared difference, if the product is
    /// more than 1. As the belief includes the last seconds' evidence, a ratio of one half is already large. 0 disables
    /// the inflation.
    public var radiusInflation = 2.0

    /// Creates the settings with their defaults.
    public init() {}
}

extension PositioningSettings {
    /// The settings of the engine.
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
