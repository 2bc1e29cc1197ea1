/// A set of streams that a plugin can subscribe to. There are six streams.
///
///     await host.subscribe(self, to: [.positions, .errors])
///     await host.subscribe(self, to: .all ^ .pluginData)   // all but one
///
/// The values are those of NavisensCore's streams, so that stored masks remain valid.
public struct PluginStreams: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The positions of this device.
    public static let positions = PluginStreams(rawValue: 1)
    /// The positions of the other devices in its sharing rooms.
    public static let networkPositions = PluginStreams(rawValue: 2)
    /// The other events of position sharing: texts, connections, and the numbers of devices.
    public static let networkData = PluginStreams(rawValue: 4)
    /// The data that plugins broadcast.
    public static let pluginData = PluginStreams(rawValue: 8)
    /// The errors of the session, including those after which it continues.
    public static let errors = PluginStreams(rawValue: 16)

    /// The motion estimates of this device, in a venue or outside.
    ///
    /// NavisensCore has no such stream, because its stream 1 contains both; subscribe to this one in addition. It has
    /// ten elements a second (``DeadReckoningSettings/interval``).
    public static let motion = PluginStreams(rawValue: 32)

    /// No stream.
    public static let nothing: PluginStreams = []
    /// All streams except `motion`: the five of NavisensCore, with the value of its constant ALL.
    public static let all = PluginStreams(rawValue: 31)
    /// All streams, including `motion`.
    public static let every: PluginStreams = [.all, .motion]

    /// Returns the streams that are in either set.
    public static func | (left: PluginStreams, right: PluginStreams) -> PluginStreams { left.union(right) }

    /// Returns the streams that are in only one of the sets: `.all ^ .pluginData` is all but the data of plugins.
    public static func ^ (left: PluginStreams, right: PluginStreams) -> PluginStreams {
        left.symmetricDifference(right)
    }
}
