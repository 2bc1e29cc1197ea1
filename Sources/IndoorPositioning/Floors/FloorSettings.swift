import IndoorVocabulary

/// How the floor is decided.
public struct FloorSettings: Hashable, Sendable {
    /// A floor this probable is taken at once, in [0.5, 1].
    public var settleProbability = 0.8
    /// After this long the most probable floor is taken, however unsure; from 0 s to a day.
    public var patience = Duration.seconds(2)
    /// Another floor must be this probable to take over, in [0.5, 1].
    public var switchProbability = 0.7
    /// It must stay so probable for this long; from 0 s to a day.
    public var switchTime = Duration.milliseconds(1500)

    /// Creates the settings with their defaults.
    public init() {}
}

extension FloorSettings {
    /// The settings of the floor's decision, each once.
    package static let list: [Setting<FloorSettings>] = [
        .number(
            "settleProbability", \.settleProbability, in: 0.5...1, "A floor this probable is taken at once."),
        .duration(
            "patience", \.patience, from: .zero,
            "After this long the most probable floor is taken, however unsure."),
        .number(
            "switchProbability", \.switchProbability, in: 0.5...1,
            "Another floor must be this probable to take over."),
        .duration("switchTime", \.switchTime, from: .zero, "It must stay so probable for this long."),
    ]
}
