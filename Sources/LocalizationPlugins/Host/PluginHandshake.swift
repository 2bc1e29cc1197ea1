/// The handshake by which plugins with the same tag find each other, in any order of addition.
///
/// A new plugin broadcasts `initialize`. The others answer `acknowledge` with the new plugin's number as payload, so
/// that further plugins ignore the answer. A plugin that stops broadcasts `stop`. The handshake is a value that
/// returns the data to broadcast, and sends nothing itself.
///
///     await host.broadcast(handshake.greeting)
///     …
///     if let answer = handshake.handle(data) { await host.broadcast(answer) }
public struct PluginHandshake: Hashable, Sendable {
    /// The tag of the plugins.
    package let tag: String
    /// The plugin that the handshake belongs to.
    package let own: PluginID
    /// The other plugins with the tag.
    package private(set) var peers: Set<PluginID> = []

    /// Creates the handshake of a plugin without peers.
    public init(tag: String, own: PluginID) {
        self.tag = tag
        self.own = own
    }

    /// The data to broadcast at the start of the plugin.
    public var greeting: PluginData { PluginData(tag: tag, operation: .initialize, sender: own) }
    /// The data to broadcast at the stop of the plugin.
    package var farewell: PluginData { PluginData(tag: tag, operation: .stop, sender: own) }

    /// Handles broadcast data; ignores data that is not another plugin's handshake with this tag.
    ///
    /// - Returns: the answer to broadcast; nil if no answer is needed.
    public mutating func handle(_ data: PluginData) -> PluginData? {
        guard data.tag == tag, let sender = data.sender, sender != own else { return nil }
        switch data.operation {
        case .initialize:
            peers.insert(sender)
            return PluginData(tag: tag, operation: .acknowledge, sender: own, payload: sender)
        case .acknowledge:
            if data.value(as: PluginID.self) == own { peers.insert(sender) }
        case .stop:
            peers.remove(sender)
        default:
            break
        }
        return nil
    }
}
