import BeaconScanning
import IndoorPositioning
import IndoorRouting
import IndoorVocabulary
import VenueModel

extension Localizer {
    /// Submits a known position of the device.
    ///
    /// Before the first position, the estimation starts at the fix. Later, the positions converge to it. A hard fix
    /// replaces the estimate within its radius, and later readings may contradict it. A soft fix is combined with the
    /// other evidence, like a radio reading. Before a venue is known, the session keeps the fix for a venue that has
    /// its map. With a forced venue, the session assumes at once that the device is in that venue. The session replaces
    /// the fix's instant with its own current instant.
    /// - Parameter fix: the position, which `VenueMap.fix(at:radius:)` creates from metres, pixels or a coordinate.
    /// - Returns: the outcome of the fix. The session ignores a fix if its radius isn't above 0, its position isn't
    ///   finite, the venue has no such map, or the position is off the plan by more than 50 m plus the radius. The
    ///   outcome then contains the reason.
    @discardableResult public func submit(_ fix: Fix) async -> FixOutcome {
        await guide(.fix(fix)) ?? .ignored(.methodWithoutMemory)
    }

    /// Sets the heading of the device for this session, in degrees clockwise from the top of the plan.
    ///
    /// Later headings continue from this one. The heading has no effect until a motion sensor reports the orientation
    /// of the device.
    public func setHeading(_ course: Double) async { _ = await guide(.heading(course)) }

    /// Locks the floor to a map, regardless of the readings.
    ///
    /// The lock applies in every venue that has a map with this number, and in later sessions. A second call changes
    /// the map. ``unlockFloor()`` removes the lock.
    public func lockFloor(_ map: MapID) async { _ = await guide(.lockFloor(map)) }

    /// Removes the floor lock, so that readings decide the floor again. Does nothing without a lock.
    public func unlockFloor() async { _ = await guide(.lockFloor(nil)) }

    /// Locks the device indoors, or removes that lock, also for later sessions.
    ///
    /// While the device is locked indoors, satellite positions decide neither that it is outdoors nor which venue it is
    /// in. Until the first call, the setting `venueSearch.isLockedIndoors` applies. `lockIndoors(false)` removes the
    /// lock.
    public func lockIndoors(_ isLocked: Bool) async { _ = await guide(.lockIndoors(isLocked)) }

    /// Sets the calibration of the device, from an earlier session. It takes effect with the next venue.
    public func setCalibration(_ calibration: Calibration) async { _ = await guide(.calibration(calibration)) }
}

// The order of readings and other information.
extension Localizer {
    /// Waits until the session has handled the readings of its source up to an instant.
    ///
    /// Another reader of a shared source may be ahead of the session. What it infers from a reading must reach the
    /// session after the earlier readings.
    ///
    /// The method returns at once if no session is running, if the session has no reading yet, or if the instant is
    /// more than 5 s after its latest reading. In the last case, the instant is from another timeline, or the readings
    /// are late. The wait ends early when the session ends, when the task is cancelled, and after 5 s on the clock of a
    /// live source.
    /// - Parameter instant: an instant of the source's time.
    package func waitForReadings(upTo instant: Instant) async {
        let instant = runtime.timeline.ofSession(instant)
        guard !state.isOver, let latest = runtime.waits.latest, latest < instant,
            latest.duration(to: instant) <= SessionTimeline.longestDelay
        else { return }
        let (stream, end) = runtime.waits.begin(until: instant)
        let limit = alarm(after: SessionTimeline.longestDelay).map { alarm in
            Task {
                try? await alarm()
                end.finish()
            }
        }
        defer { limit?.cancel() }
        for await _ in stream {}
    }
}

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
        let (positions, elements) = (positions, derivedElements)
        let (stream, continuation) = AsyncStream.makeStream(
            of: RouteUpdate.self, bufferingPolicy: .bufferingNewest(1024))
        let watch = Task {
            var monitor = monitor
            for await position in positions {
                for update in monitor.handle(position) { elements.send(update, to: continuation) }
                if monitor.isOver { break }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in watch.cancel() }
        return stream
    }
}
