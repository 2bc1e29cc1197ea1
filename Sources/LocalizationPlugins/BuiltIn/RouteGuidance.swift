import IndoorRouting
import VenueModel

/// A plugin that leads the device to a goal, and tells the other plugins how far it is.
///
///     let guidance = await host.add(RouteGuidance(), arguments: .init(planner: RoutePlanner(venue: venue)))
///     try await guidance?.guide(to: RoutePoint(cafe))
///
/// It broadcasts each `RouteUpdate` with the tag `RouteGuidance.tag`. A plugin that shows the way may come later: if it greets
/// with that tag, as `PluginHandshake` does, it is told the present route, too.
public actor RouteGuidance: LocalizationPlugin {
    /// What the plugin works with.
    public struct Arguments: Sendable {
        /// Finds the routes.
        public var planner: RoutePlanner
        /// What a route may use.
        public var options: RouteOptions
        /// When a route is left, and when its goal is reached.
        public var settings: RouteMonitorSettings

        /// Creates the arguments.
        public init(
            planner: RoutePlanner, options: RouteOptions = RouteOptions(),
            settings: RouteMonitorSettings = RouteMonitorSettings()
        ) {
            self.planner = planner
            self.options = options
            self.settings = settings
        }
    }

    /// The tag of the plugin's broadcasts, whose payload is a `RouteUpdate`.
    public static let tag = "IndoorLocalization.RouteGuidance"

    /// The route that the device is on; nil without a goal, and where there is none.
    public var route: Route? {
        if case .following(let route, _, _) = monitor?.state { route } else { nil }
    }

    private var arguments: Arguments?
    private var monitor: RouteMonitor?
    private var handshake: PluginHandshake?
    private weak var host: PluginHost?

    /// Creates the plugin, to be added to a host.
    public init() {}

    public func initialize(host: PluginHost, arguments: Arguments) async -> Bool {
        self.host = host
        self.arguments = arguments
        guard let id = await host.id(of: self) else { return false }
        let handshake = PluginHandshake(tag: Self.tag, own: id)
        self.handshake = handshake
        await host.subscribe(self, to: [.positions, .pluginData])
        await host.broadcast(handshake.greeting)
        return true
    }

    public func stop() async -> Bool {
        if let handshake { await host?.broadcast(handshake.farewell) }
        return true
    }

    /// Leads to a goal, in place of the one so far, from the next position on.
    ///
    /// - Throws: `RouteError` if no route can lead there from anywhere, or if an option is out of its range.
    public func guide(to goal: RoutePoint) throws {
        guard let arguments else { return }
        monitor = try RouteMonitor(
            planner: arguments.planner, goal: goal, options: arguments.options, settings: arguments.settings)
    }

    /// Leads nowhere any more.
    public func cancel() { monitor = nil }

    public func receive(position: Position) async {
        guard let updates = monitor?.handle(position) else { return }
        for update in updates { await host?.broadcast(Self.tag, update, from: self) }
    }

    public func receive(pluginData: PluginData) async {
        guard let answer = handshake?.handle(pluginData) else { return }
        await host?.broadcast(answer)
        if let route { await host?.broadcast(Self.tag, RouteUpdate.renewed(route), from: self) }
    }
}
