import IndoorVocabulary

/// How often a service logs what it has counted.
public struct HeartbeatSettings: Hashable, Sendable {
    /// Time between two heartbeats, from 0 s to a day; 0 s gives none.
    public var interval = Duration.seconds(60)
    /// How many heartbeats are kept, in [0, 1,000,000].
    public var history = 100

    /// Creates the settings with their defaults.
    public init() {}

    /// What is out of range; empty if all is well.
    public var problems: [String] { Self.list.problems(in: self, prefix: "heartbeat.") }

    /// The settings of heartbeats, each once.
    package static let list: [Setting<HeartbeatSettings>] = [
        .duration(
            "interval", \.interval, from: .zero, better: .smaller,
            "Time between two lines of `indoorloc serve` that say what was counted; 0 gives none."),
        .wholeNumber("history", \.history, in: 0...1_000_000, better: .greater, "How many heartbeats are kept."),
    ]
}
