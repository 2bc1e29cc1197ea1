import IndoorVocabulary

/// Settings for requests to a settings server.
public struct RemotePullSettings: Hashable, Sendable {
    /// The time between two requests to the settings server, from 1 s to a day.
    public var interval = Duration.seconds(300)
    /// The pause before the first retry of a failed request, above 0 s; it doubles up to one minute.
    package var retryPause = Duration.seconds(5)

    /// Creates the settings with their defaults.
    public init() {}

    /// The settings that are out of range; empty if all are valid.
    public var problems: [String] { Self.list.problems(in: self, prefix: "remote.") }

    /// The settings of the requests.
    package static let list: [Setting<RemotePullSettings>] = [
        .duration(
            "interval", \.interval, from: .seconds(1), better: .smaller,
            "The time between two requests to the settings server."),
        .duration(
            "retryPause", \.retryPause, above: .zero,
            "The pause before the first retry of a failed request; it doubles up to one minute."
        ).expert(.estimate),
    ]
}
