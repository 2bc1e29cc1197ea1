import IndoorPositioning
import IndoorRouting
import LocalizationSession
import VenueModel

/// A plugin that gathers what a map view shows, as one stream of values that can be encoded.
///
///     let map = await host.add(MapFeed(), arguments: .init())
///     for await item in await map?.items() ?? … { view.send(try encoder.encode(item)) }
///
/// Positions and plans come from the session, headings from its motion, routes from a ``RouteGuidance`` beside it, tags from the
/// other devices of the host. It draws nothing itself.
public actor MapFeed: LocalizationPlugin {
    /// What the plugin works with.
    public struct Arguments: Hashable, Sendable {
        /// How many places a trail has at most, from 0 on.
        public var trailLength: Int
        /// Metres from one place of the trail to the next, at least.
        public var trailStep: Double

        /// Creates the arguments.
        public init(trailLength: Int = 100, trailStep: Double = 0.5) {
            self.trailLength = trailLength
            self.trailStep = trailStep
        }
    }

    /// Items that wait for a slow view; beyond, the oldest are lost.
    private static let buffer = 1024

    private var contents = MapContents(trailLength: 0, trailStep: 0)
    private var views: [UInt64: AsyncStream<MapItem>.Continuation] = [:]
    private var nextView: UInt64 = 0
    private var handshake: PluginHandshake?
    private weak var host: PluginHost?

    /// Creates the plugin, to be added to a host.
    public init() {}

    deinit { for view in views.values { view.finish() } }

    public func initialize(host: PluginHost, arguments: Arguments) async -> Bool {
        self.host = host
        contents = MapContents(trailLength: arguments.trailLength, trailStep: arguments.trailStep)
        guard let id = await host.id(of: self) else { return false }
        // A route that is there already is told to who greets.
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

    /// What a view shows: all that there is now, and then what changes. Each call gives a stream of its own; of items that
    /// nobody takes, the newest 1024 are kept.
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
