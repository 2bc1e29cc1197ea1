/// Knows the plugins that use the same tag, whichever of them came first.
///
/// Who comes broadcasts `initialize`; who is there answers `acknowledge` with the newcomer's number as payload, so that
/// others don't take it for theirs; who goes broadcasts `stop`. A value: it says what to broadcast and sends nothing.
///
///     await host.broadcast(handshake.greeting)
///     …
///     if let answer = handshake.handle(data) { await host.broadcast(answer) }
public struct PluginHandshake: Hashable, Sendable {
    /// The tag that its plugins use.
    public let tag: String
    /// The plugin that this is for.
    public let own: PluginID
    /// The other plugins that are there.
    public private(set) var peers: Set<PluginID> = []

    /// Creates the handshake of a plugin that knows nobody yet.
    public init(tag: String, own: PluginID) {
        self.tag = tag
        self.own = own
    }

    /// What to broadcast on coming.
    public var greeting: PluginData { PluginData(tag: tag, operation: .initialize, sender: own) }
    /// What to broadcast on going.
    public var farewell: PluginData { PluginData(tag: tag, operation: .stop, sender: own) }

    /// Takes in what was broadcast; anything that is no other plugin's handshake with this tag changes nothing.
    ///
    /// - Returns: the answer to broadcast; nil if none is needed.
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
