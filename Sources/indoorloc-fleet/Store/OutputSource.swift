import TagTracking

/// A source of the outputs of a fleet.
protocol OutputSource: Sendable {
    /// Receives outputs until the task is cancelled, and connects again after a failure.
    ///
    /// - Parameters:
    ///   - report: receives the changes of the connection.
    ///   - give: receives the outputs in their order.
    func run(
        _ report: @escaping @Sendable (StoreRun.Event) -> Void, _ give: @escaping @Sendable (FleetOutput) -> Void
    ) async
}
