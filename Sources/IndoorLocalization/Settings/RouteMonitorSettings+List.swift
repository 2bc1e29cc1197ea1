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
