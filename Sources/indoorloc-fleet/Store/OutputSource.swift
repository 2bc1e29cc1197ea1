import TagHistory

/// A source of the outputs of a fleet.
protocol OutputSource: Sendable {
    /// Receives outputs and adds them to a store, until the task is cancelled. Connects again after a failure.
    ///
    /// - Parameter report: receives the changes of the connection.
    func run(into store: HistoryStore, _ report: @escaping @Sendable (StoreRun.Event) -> Void) async
}
