import IndoorVocabulary
import VenueModel

/// When a watched route is left, and when its goal is reached.
public struct RouteMonitorSettings: Hashable, Sendable {
    /// Metres off the route within which a position is on it, from 0 to 1,000.
    ///
    /// A position counts as off the route only beyond its own uncertainty, too: outside of 95 % instead of 68 %.
    public var offRouteDistance = 5.0
    /// How long positions must be off the route before it is renewed: a single outlier is none.
    public var offRouteDuration = Duration.seconds(3)
    /// Metres before the goal, along the route, at which it is reached, from 0 to 1,000.
    public var arrivalRadius = 3.0
    /// How long to wait before looking again where no route was found.
    public var retryInterval = Duration.seconds(5)

    /// Creates settings with their defaults.
    public init() {}

    /// From 68 % to 95 % of a position whose errors are normal in both directions: √(ln 0.05 / ln 0.32).
    static let radiusFactor = 1.62

    /// Throws if a number is out of its range.
    func check() throws(RouteError) {
        if let problem = Self.list.problems(in: self).first { throw .optionOutOfRange(problem) }
    }
}

extension RouteMonitorSettings {
    /// The settings of a watched route, each once.
    package static let list: [Setting<RouteMonitorSettings>] = [
        .number(
            "offRouteDistance", \.offRouteDistance, in: 0...1000, unit: "m",
            "How far off the route a position still is on it."),
        .duration(
            "offRouteDuration", \.offRouteDuration, from: .zero,
            "How long positions must be off the route before it is renewed."),
        .number(
            "arrivalRadius", \.arrivalRadius, in: 0...1000, unit: "m",
            "How far before the goal, along the route, it is reached."),
        .duration(
            "retryInterval", \.retryInterval, from: .zero,
            "How long to wait before looking again where no route was found."),
    ]
}

/// What a watched route tells.
public enum RouteUpdate: Hashable, Sendable {
    /// The first route to the goal.
    case planned(Route)
    /// The device is so far along the route.
    case progressed(RouteProgress)
    /// The device has left the route; this one leads on from where it is.
    case renewed(Route)
    /// The goal is reached; nothing follows.
    case arrived
    /// No route leads to the goal from where the device is; it is looked for again after a while.
    case lost(RouteError)
}

/// Follows a device along a route to a goal: positions go in, what is to be told comes out.
///
/// The first position gives the first route. A position is off the route if it is farther from it than
/// `offRouteDistance` and than its own uncertainty, or on a map that the route does not touch. The route is renewed once
/// positions have been off it for `offRouteDuration`; one position on the route ends that time. So neither an outlier
/// nor a floor that is wrong for a moment renews it.
public struct RouteMonitor: Sendable {
    /// Where it stands.
    public enum State: Hashable, Sendable {
        /// No position has come yet.
        case waiting
        /// There is a route, and the device is about it; `offSince` is when it was last seen to leave it.
        case following(Route, RouteProgress, offSince: Instant?)
        /// There is no route, for that reason; it was looked for last at `since`.
        case lost(RouteError, since: Instant)
        /// The goal is reached.
        case arrived
    }

    private struct Transition: Sendable {
        var state: State
        var updates: [RouteUpdate] = []
    }

    /// Where the route is to lead.
    public let goal: RoutePoint
    /// Where the monitor stands.
    public private(set) var state = State.waiting
    private var planner: RoutePlanner
    private let options: RouteOptions
    private let settings: RouteMonitorSettings

    /// Metres by which another passage of the route may be nearer than the one that the device was on.
    private static let tolerance = 1.0

    /// Creates a monitor that waits for a position.
    ///
    /// - Throws: `RouteError` if no route can lead to the goal from anywhere, or if a setting is out of its range.
    public init(
        planner: RoutePlanner, goal: RoutePoint, options: RouteOptions = RouteOptions(),
        settings: RouteMonitorSettings = RouteMonitorSettings()
    ) throws(RouteError) {
        try settings.check()
        try planner.check(goal: goal, options)
        (self.planner, self.goal, self.options, self.settings) = (planner, goal, options, settings)
    }

    /// Whether the goal is reached, so that nothing more will be told.
    public var isOver: Bool { state == .arrived }

    /// Takes in where the device is; positions in other venues are passed over.
    public mutating func handle(_ position: Position) -> [RouteUpdate] {
        guard position.venueID == planner.venueID else { return [] }
        let transition = transition(on: position)
        state = transition.state
        return transition.updates
    }

    private mutating func transition(on position: Position) -> Transition {
        switch state {
        case .arrived:
            return Transition(state: .arrived)
        case .waiting:
            return plan(from: position) { .planned($0) }
        case .lost(let error, let since):
            // Instants of a new session may begin anew.
            let isSoon = position.instant >= since && since.duration(to: position.instant) < settings.retryInterval
            return isSoon
                ? Transition(state: .lost(error, since: since)) : plan(from: position, after: error) { .renewed($0) }
        case .following(let route, let progress, let offSince):
            return follow(route, progress, offSince, position)
        }
    }

    private mutating func follow(
        _ route: Route, _ last: RouteProgress, _ offSince: Instant?, _ position: Position
    ) -> Transition {
        let progress = route.progress(
            of: RoutePoint(position), after: last.distanceDone, tolerance: Self.tolerance)
        let updates = progress.map { [RouteUpdate.progressed($0)] } ?? []
        let radius = position.radius.isFinite ? position.radius : 0
        let limit = max(settings.offRouteDistance, radius * RouteMonitorSettings.radiusFactor)
        if let progress, progress.distanceOff <= limit {
            if position.mapID == goal.mapID, progress.distanceRemaining <= settings.arrivalRadius {
                return Transition(state: .arrived, updates: updates + [.arrived])
            }
            return Transition(state: .following(route, progress, offSince: nil), updates: updates)
        }
        let since = min(offSince ?? position.instant, position.instant)
        guard since.duration(to: position.instant) >= settings.offRouteDuration, offSince != nil else {
            // Off the route, progress is no more than a guess: what was known last stays.
            return Transition(state: .following(route, last, offSince: since), updates: updates)
        }
        return plan(from: position) { .renewed($0) }
    }

    /// Looks for a route; a failure for the same reason as before is not told again.
    private mutating func plan(
        from position: Position, after known: RouteError? = nil, _ update: (Route) -> RouteUpdate
    ) -> Transition {
        let route: Route
        do throws(RouteError) {
            route = try planner.route(from: RoutePoint(position), to: goal, options)
        } catch {
            return Transition(
                state: .lost(error, since: position.instant),
                updates: known.map { $0.isSameReason(as: error) } ?? false ? [] : [.lost(error)])
        }
        guard let progress = route.progress(of: RoutePoint(position)) else {
            preconditionFailure("a route from \(RoutePoint(position)) does not begin there")
        }
        let updates = [update(route), .progressed(progress)]
        let isThere = position.mapID == goal.mapID && progress.distanceRemaining <= settings.arrivalRadius
        return isThere
            ? Transition(state: .arrived, updates: updates + [.arrived])
            : Transition(state: .following(route, progress, offSince: nil), updates: updates)
    }
}

extension RouteError {
    /// Whether both tell the same, but for where the device was.
    func isSameReason(as other: RouteError) -> Bool {
        switch (self, other) {
        case (.tooFarFromPaths, .tooFarFromPaths), (.unreachable, .unreachable),
            (.needsExcludedWays, .needsExcludedWays):
            true
        default: self == other
        }
    }
}
