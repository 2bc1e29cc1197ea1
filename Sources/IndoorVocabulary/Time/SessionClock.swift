/// A clock that measures the time since its creation, based on any other clock.
package struct SessionClock: Sendable {
    private let read: @Sendable () -> Duration
    private let wait: @Sendable (Duration) async throws -> Void

    /// Creates a clock that starts at zero.
    package init<C: Clock<Duration>>(_ clock: C) {
        let start = clock.now
        read = { start.duration(to: clock.now) }
        wait = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }

    /// Returns the time since the creation of the clock.
    package func elapsed() -> Duration { read() }

    /// Sleeps until the given time since the creation of the clock; throws if the task is cancelled.
    package func sleep(until elapsed: Duration) async throws { try await wait(elapsed) }
}
