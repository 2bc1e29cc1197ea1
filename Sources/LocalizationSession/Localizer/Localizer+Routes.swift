import IndoorRouting

extension Localizer {
    /// The route to a goal, renewed whenever the device leaves it, and how far along it the device is.
    ///
    ///     for await update in try localizer.routes(to: RoutePoint(cafe), with: RoutePlanner(venue: venue)) {
    ///         switch update {
    ///         case .planned(let route), .renewed(let route): show(route)
    ///         case .progressed(let progress): show(progress)
    ///         case .arrived: break
    ///         case .lost(let error): show("\(error)")
    ///         }
    ///     }
    ///
    /// The stream follows the positions from now on. It ends once the goal is reached or the localizer goes away; who
    /// stops listening ends the watch. Of updates that nobody takes, the newest 1024 are kept.
    ///
    /// - Throws: `RouteError` if no route can lead to the goal from anywhere, or if an option is out of its range.
    public nonisolated func routes(
        to goal: RoutePoint, with planner: RoutePlanner, options: RouteOptions = RouteOptions(),
        settings: RouteMonitorSettings = RouteMonitorSettings()
    ) throws(RouteError) -> AsyncStream<RouteUpdate> {
        let monitor = try RouteMonitor(planner: planner, goal: goal, options: options, settings: settings)
        let positions = positions
        let (stream, continuation) = AsyncStream.makeStream(
            of: RouteUpdate.self, bufferingPolicy: .bufferingNewest(1024))
        let watch = Task {
            var monitor = monitor
            for await position in positions {
                for update in monitor.handle(position) { continuation.yield(update) }
                if monitor.isOver { break }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in watch.cancel() }
        return stream
    }
}
