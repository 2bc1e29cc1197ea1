import IndoorVocabulary

/// How settings are pulled from a server.
public struct RemotePullSettings: Hashable, Sendable {
    /// Time between two questions whether there is something new, from 1 s to a day.
    public var interval = Duration.seconds(300)
    /// The first pause before a failed question is asked again, above 0 s; it doubles up to a minute.
    public var retryPause = Duration.seconds(5)

    /// Creates the settings with their defaults.
    public init() {}

    /// What is out of range; empty if all is well.
    public var problems: [String] { Self.list.problems(in: self, prefix: "remote.") }

    /// The settings of the pull, each once.
    package static let list: [Setting<RemotePullSettings>] = [
        .duration(
            "interval", \.interval, from: .seconds(1), better: .smaller,
            "Time between two questions to the settings server whether there is something new."),
        .duration(
            "retryPause", \.retryPause, above: .zero,
            "The first pause before a question that failed is asked again; it doubles up to a minute."),
    ]
}
