import IndoorRouting
import VenueModel

/// A plugin that guides the device to a goal, and broadcasts its progress to the other plugins.
///
///     let guidance = await host.add(RouteGuidance(), arguments: .init(planner: RoutePlanner(venue: venue)))
///     try await guidance?.guide(to: RoutePoint(cafe))
///
/// It broadcasts each `RouteUpdate` with the tag `RouteGuidance.tag`. A plugin that displays the route may be added
/// later: if it sends a greeting with that tag, as `PluginHandshake` does, it also receives the current route.
public actor RouteGuidance: LocalizationPlugin {
    /// The arguments of the plugin.
    public struct Arguments: Sendable {
        /// The planner of the routes.
        package var planner: RoutePlanner
        /// The options of the routes.
        package var options: RouteOptions
        /// The conditions for leaving a route, and for reaching its goal.
        package var settings: RouteMonitorSettings

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

    /// The current route; nil without a goal, or if there is no route to it.
    public var route: Route? {
        if case .following(let route, _, _) = monitor?.state { route } else { nil }
    }

    private var arguments: Arguments?
    private var monitor: RouteMonitor?
    private var handshake: PluginHandshake?
    private weak var host: PluginHost?

    /// Creates the plugin; a host adds it.
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

    /// Guides the device to a goal from the next position on, instead of an earlier goal.
    ///
    /// - Throws: `RouteError` if no route leads to the goal from anywhere, or if an option is out of range.
    public func guide(to goal: RoutePoint) throws {
        guard let arguments else { return }
        monitor = try RouteMonitor(
            planner: arguments.planner, goal: goal, options: arguments.options, settings: arguments.settings)
    }

    /// Ends the guidance.
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
