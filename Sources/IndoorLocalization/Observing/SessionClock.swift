/// Any clock, as time since this value was made.
struct SessionClock: Sendable {
    private let read: @Sendable () -> Duration
    private let wait: @Sendable (Duration) async throws -> Void

    /// Begins to count.
    init<C: Clock<Duration>>(_ clock: C) {
        let start = clock.now
        read = { start.duration(to: clock.now) }
        wait = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }

    /// Time since the beginning.
    func elapsed() -> Duration { read() }

    /// Returns when so much time has passed since the beginning; throws when the task is cancelled.
    func sleep(until elapsed: Duration) async throws { try await wait(elapsed) }
}

/// Relates the instants of a source to the time on a clock.
struct SessionTimeline: Sendable {
    /// The latest known instant of the source, and the clock's time when it was known.
    private var anchor: (instant: Instant, elapsed: Duration)
    private var hasReading = false

    /// Begins a timeline at zero, until a first reading tells where the source's instants are.
    init(startedAt elapsed: Duration = .zero) {
        anchor = (.zero, elapsed)
    }

    /// Takes in a reading's instant; returns by how much the first one moves the timeline.
    ///
    /// - Parameter elapsed: the clock's time; nil if only readings pass the time.
    mutating func align(to instant: Instant, elapsed: Duration?) -> Duration {
        let present = now(elapsed)
        let isFirst = !hasReading
        hasReading = true
        if isFirst || instant >= anchor.instant { anchor = (instant, elapsed ?? .zero) }
        return isFirst ? present.duration(to: instant) : .zero
    }

    /// The present instant; without a clock's time, that of the latest reading.
    func now(_ elapsed: Duration?) -> Instant {
        guard let elapsed else { return anchor.instant }
        return anchor.instant.advanced(by: max(.zero, elapsed - anchor.elapsed))
    }

    /// The clock's time at an instant.
    func elapsed(at instant: Instant) -> Duration { anchor.elapsed + anchor.instant.duration(to: instant) }
}
