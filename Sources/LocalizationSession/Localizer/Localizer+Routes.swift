import IndoorRouting

extension Localizer {
    /// Returns a stream with the route to a goal and the progress of the device along it.
    ///
    /// The route is recalculated whenever the device leaves it.
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
    /// The stream ends when the device reaches the goal or the localizer is deallocated. Guidance stops when the task
    /// that reads the stream ends. The stream buffers the newest 1024 updates.
    ///
    /// - Throws: `RouteError` if the goal can't be reached from anywhere, or if an option is out of its range.
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
