import IndoorVocabulary
import VenueModel

/// Settings that decide when a device has left a watched route and when it has arrived.
public struct RouteMonitorSettings: Hashable, Sendable {
    /// The distance in metres from the route beyond which a position is off it, from 0 to 1,000.
    ///
    /// A position is off the route only if its distance also exceeds its own 95 % radius.
    public var offRouteDistance = 5.0
    /// How long positions must be off the route before the monitor calculates a new one. A single outlier has no
    /// effect.
    public var offRouteDuration = Duration.seconds(3)
    /// The remaining distance in metres along the route at which the device has arrived, from 0 to 1,000.
    public var arrivalRadius = 3.0
    /// How long to wait after a failed route search before the next one.
    package var retryInterval = Duration.seconds(5)

    /// Creates settings with their defaults.
    public init() {}

    /// The ratio of the 95 % radius to the 68 % radius of a two-dimensional normal error: √(ln 0.05 / ln 0.32).
    static let radiusFactor = 1.62

    /// Checks that each number is in its range.
    func check() throws(RouteError) {
        if let problem = Self.list.problems(in: self).first { throw .optionOutOfRange(problem) }
    }
}

extension RouteMonitorSettings {
    /// The settings of a watched route.
    package static let list: [Setting<RouteMonitorSettings>] = [
        .number(
            "offRouteDistance", \.offRouteDistance, in: 0...1000, unit: "m",
            "The distance from the route beyond which a position is off it."),
        .duration(
            "offRouteDuration", \.offRouteDuration, from: .zero,
            "How long positions must be off the route before the monitor calculates a new one."),
        .number(
            "arrivalRadius", \.arrivalRadius, in: 0...1000, unit: "m",
            "The remaining distance along the route at which the device has arrived."),
        .duration(
            "retryInterval", \.retryInterval, from: .zero,
            "How long to wait after a failed route search before the next one."
        ).expert(.estimate),
    ]
}

/// An update about a watched route.
public enum RouteUpdate: Hashable, Sendable {
    /// The first route to the goal.
    case planned(Route)
    /// The progress of the device along the route.
    case progressed(RouteProgress)
    /// The device has left the route; the new route starts at its position.
    case renewed(Route)
    /// The device has reached the goal. This is the last update.
    case arrived
    /// There is no route from the device to the goal. The monitor searches again after `retryInterval`.
    case lost(RouteError)
}

/// A state machine that follows a device along a route: it accepts positions and returns updates.
///
/// The monitor plans the first route from the first position. A position is off the route if its distance from the
/// route exceeds both `offRouteDistance` and its own uncertainty, or if the route doesn't touch its map. The monitor
/// calculates a new route once positions have been off the route for `offRouteDuration`; a single position on the route
/// restarts that period. A single outlier or a briefly wrong floor therefore doesn't change the route.
package struct RouteMonitor: Sendable {
    /// The state of a monitor.
    package enum State: Hashable, Sendable {
        /// The monitor hasn't received a position yet.
        case waiting
        /// The device follows a route; `offSince` is the time at which it left the route, or nil while it is on it.
        case following(Route, RouteProgress, offSince: Instant?)
        /// There is no route, because of this error; the last search was at `since`.
        case lost(RouteError, since: Instant)
        /// The device has reached the goal.
        case arrived
    }

    private struct Transition: Sendable {
        var state: State
        var updates: [RouteUpdate] = []
    }

    /// The goal of the route.
    package let goal: RoutePoint
    /// The current state.
    package private(set) var state = State.waiting
    private var planner: RoutePlanner
    private let options: RouteOptions
    private let settings: RouteMonitorSettings

    /// The distance in metres by which another pass of the route can be nearer before the monitor prefers it to the
    /// pass that the device was on.
    private static let tolerance = 1.0

    /// Creates a monitor that waits for its first position.
    ///
    /// - Throws: `RouteError` if the goal can't be reached from anywhere, or if a setting is out of its range.
    package init(
        planner: RoutePlanner, goal: RoutePoint, options: RouteOptions = RouteOptions(),
        settings: RouteMonitorSettings = RouteMonitorSettings()
    ) throws(RouteError) {
        try settings.check()
        try planner.check(goal: goal, options)
        (self.planner, self.goal, self.options, self.settings) = (planner, goal, options, settings)
    }

    /// Whether the device has reached the goal. The monitor emits no more updates.
    package var isOver: Bool { state == .arrived }

    /// Processes a position of the device and returns the updates. Ignores positions in other venues.
    package mutating func handle(_ position: Position) -> [RouteUpdate] {
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
            // In a new session, instants can start again from zero.
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
            // Keep the last progress, because progress off the route is unreliable.
            return Transition(state: .following(route, last, offSince: since), updates: updates)
        }
        return plan(from: position) { .renewed($0) }
    }

    /// Searches for a route. Doesn't report a failure again if it has the same reason as the previous one.
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
    /// Returns whether both errors have the same reason, regardless of the position of the device.
    func isSameReason(as other: RouteError) -> Bool {
        switch (self, other) {
        case (.tooFarFromPaths, .tooFarFromPaths), (.unreachable, .unreachable),
            (.needsExcludedWays, .needsExcludedWays):
            true
        default: self == other
        }
    }
}
