/// Any clock, as time since this value was made.
package struct SessionClock: Sendable {
    private let read: @Sendable () -> Duration
    private let wait: @Sendable (Duration) async throws -> Void

    /// Begins to count.
    package init<C: Clock<Duration>>(_ clock: C) {
        let start = clock.now
        read = { start.duration(to: clock.now) }
        wait = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }

    /// Time since the beginning.
    package func elapsed() -> Duration { read() }

    /// Returns when so much time has passed since the beginning; throws when the task is cancelled.
    package func sleep(until elapsed: Duration) async throws { try await wait(elapsed) }
}
