/// What a plugin may be told of: any of five streams.
///
///     await host.subscribe(self, to: [.positions, .errors])
///     await host.subscribe(self, to: .all ^ .pluginData)   // all but one
///
/// The values are those of NavisensCore's streams, so that stored masks keep their meaning.
public struct PluginStreams: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Where this device is.
    public static let positions = PluginStreams(rawValue: 1)
    /// Where the other devices in its rooms are.
    public static let networkPositions = PluginStreams(rawValue: 2)
    /// What else happens among the devices: texts, who is connected, how many there are.
    public static let networkData = PluginStreams(rawValue: 4)
    /// What plugins tell each other.
    public static let pluginData = PluginStreams(rawValue: 8)
    /// Errors of the session, also those that it survives.
    public static let errors = PluginStreams(rawValue: 16)

    /// No stream.
    public static let nothing: PluginStreams = []
    /// All five.
    public static let all = PluginStreams(rawValue: 31)

    /// The streams that are in either set.
    public static func | (left: PluginStreams, right: PluginStreams) -> PluginStreams { left.union(right) }

    /// The streams that are in one set and not in the other: `.all ^ .pluginData` is all but what plugins tell each other.
    public static func ^ (left: PluginStreams, right: PluginStreams) -> PluginStreams {
        left.symmetricDifference(right)
    }
}
