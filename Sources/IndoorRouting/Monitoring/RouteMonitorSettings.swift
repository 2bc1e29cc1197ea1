import IndoorVocabulary

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
