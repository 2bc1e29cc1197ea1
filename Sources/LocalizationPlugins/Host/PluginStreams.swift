/// What a plugin may be told of: any of six streams.
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

    /// How this device moves, in a venue or in none.
    ///
    /// NavisensCore has no such stream, as its stream 1 holds both: subscribe to it beside the others. It comes ten times a second
    /// (``DeadReckoningSettings/interval``).
    public static let motion = PluginStreams(rawValue: 32)

    /// No stream.
    public static let nothing: PluginStreams = []
    /// All streams except `motion`: the five of NavisensCore, with the value of its constant ALL.
    public static let all = PluginStreams(rawValue: 31)
    /// Every stream, `motion` among them.
    public static let every: PluginStreams = [.all, .motion]

    /// The streams that are in either set.
    public static func | (left: PluginStreams, right: PluginStreams) -> PluginStreams { left.union(right) }

    /// The streams that are in one set and not in the other: `.all ^ .pluginData` is all but what plugins tell each other.
    public static func ^ (left: PluginStreams, right: PluginStreams) -> PluginStreams {
        left.symmetricDifference(right)
    }
}
