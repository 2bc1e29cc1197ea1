import IndoorVocabulary

/// Settings for the heartbeats of a service, which log its counters.
public struct HeartbeatSettings: Hashable, Sendable {
    /// The time between two heartbeats, which log the counters of `indoorloc serve`, from 0 s to a day; 0 disables
    /// them.
    public var interval = Duration.seconds(60)
    /// The number of stored heartbeats, in [0, 1,000,000].
    public var history = 100

    /// Creates the settings with their defaults.
    public init() {}

    /// The settings that are out of range; empty if all are valid.
    public var problems: [String] { Self.list.problems(in: self, prefix: "heartbeat.") }

    /// The settings of heartbeats.
    package static let list: [Setting<HeartbeatSettings>] = [
        .duration(
            "interval", \.interval, from: .zero, better: .smaller,
            "The time between two heartbeats, which log the counters of `indoorloc serve`; 0 disables them."),
        .wholeNumber("history", \.history, in: 0...1_000_000, better: .greater, "The number of stored heartbeats."),
    ]
}
