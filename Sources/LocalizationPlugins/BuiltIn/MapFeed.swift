import IndoorPositioning
import IndoorRouting
import LocalizationSession
import VenueModel

/// A plugin that combines the contents of a map view into one stream of encodable values.
///
///     let map = await host.add(MapFeed(), arguments: .init())
///     for await item in await map?.items() ?? … { view.send(try encoder.encode(item)) }
///
/// Positions, plans and headings come from the session, routes from a ``RouteGuidance`` of the same host, and tags
/// from the other devices of the host. The plugin itself draws nothing.
public actor MapFeed: LocalizationPlugin {
    /// The arguments of the plugin.
    public struct Arguments: Hashable, Sendable {
        /// The maximum number of places in a trail, from 0 on.
        package var trailLength: Int
        /// The minimum distance in metres between two places of the trail.
        package var trailStep: Double

        /// Creates the arguments.
        public init(trailLength: Int = 100, trailStep: Double = 0.5) {
            self.trailLength = trailLength
            self.trailStep = trailStep
        }
    }

    /// The number of items that the stream stores for a slow view; beyond it, the oldest are lost.
    private static let buffer = 1024

    private var contents = MapContents(trailLength: 0, trailStep: 0)
    private var views: [UInt64: AsyncStream<MapItem>.Continuation] = [:]
    private var nextView: UInt64 = 0
    private var handshake: PluginHandshake?
    private weak var host: PluginHost?

    /// Creates the plugin; a host adds it.
    public init() {}

    deinit { for view in views.values { view.finish() } }

    public func initialize(host: PluginHost, arguments: Arguments) async -> Bool {
        self.host = host
        contents = MapContents(trailLength: arguments.trailLength, trailStep: arguments.trailStep)
        guard let id = await host.id(of: self) else { return false }
        // The handshake makes `RouteGuidance` send an existing route.
        let handshake = PluginHandshake(tag: RouteGuidance.tag, own: id)
        self.handshake = handshake
        await host.subscribe(self, to: [.positions, .motion, .networkPositions, .networkData, .pluginData])
        await host.broadcast(handshake.greeting)
        return true
    }

    /// Ends the streams of all views.
    public func stop() async -> Bool {
        if let handshake { await host?.broadcast(handshake.farewell) }
        for view in views.values { view.finish() }
        views = [:]
        return true
    }

    /// The items of a map view: all current ones first, then the changes. Each call returns a separate stream, which
    /// stores the newest 1024 items for a slow reader.
    public func items() -> AsyncStream<MapItem> {
        let (stream, view) = AsyncStream.makeStream(of: MapItem.self, bufferingPolicy: .bufferingNewest(Self.buffer))
        for item in contents.items { view.yield(item) }
        nextView += 1
        let key = nextView
        views[key] = view
        view.onTermination = { [weak self] _ in Task { await self?.close(key) } }
        return stream
    }

    private func close(_ key: UInt64) { views[key] = nil }

    private func tell(_ items: [MapItem]) {
        for view in views.values {
            for item in items { view.yield(item) }
        }
    }

    public func receive(position: Position) async {
        let venue = await host?.localizer.state.venue
        tell(contents.receive(position, in: venue?.id == position.venueID ? venue : nil))
    }

    public func receive(motion: MotionEstimate) { tell(contents.receive(motion)) }

    public func receive(networkPosition: SharedPosition) { tell(contents.receive(networkPosition)) }

    public func receive(networkData: SharingEvent) {
        switch networkData {
        case .left(let room), .roomFull(let room, _): tell(contents.leave(room: room))
        default: break
        }
    }

    public func receive(pluginData: PluginData) async {
        if let answer = handshake?.handle(pluginData) { await host?.broadcast(answer) }
        guard pluginData.tag == RouteGuidance.tag, let update = pluginData.value(as: RouteUpdate.self) else { return }
        tell(contents.receive(update))
    }
}
