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

/// Relates the instants of a source to the time on a clock.
struct SessionTimeline: Sendable {
    /// The latest known instant of the source, and the clock's time when it was known.
    private var anchor: (instant: Instant, elapsed: Duration)
    private var hasReading = false
    /// How far the instants of each sender are moved.
    private var shifts: [Sender: Duration] = [:]

    /// Who delivers readings.
    enum Sender: Hashable, Sendable {
        case source
        /// The satellite receiver beside the source.
        case receiver
    }

    /// Two senders whose present is this near to each other count from the same beginning: what lies between is the
    /// delay of delivery.
    static let longestDelay = Duration.seconds(5)

    /// Begins a timeline at zero, until a first reading tells where the source's instants are.
    init(startedAt elapsed: Duration = .zero) {
        anchor = (.zero, elapsed)
    }

    /// An instant of a sender on this timeline: the sender that comes second may count from elsewhere.
    mutating func place(_ instant: Instant, of sender: Sender, elapsed: Duration?) -> Instant {
        if let shift = shifts[sender] { return instant.advanced(by: shift) }
        let apart = instant.duration(to: now(elapsed))
        let isApart = apart > Self.longestDelay || apart < .zero - Self.longestDelay
        let shift = hasReading && isApart ? apart : .zero
        shifts[sender] = shift
        return instant.advanced(by: shift)
    }

    /// A sender begins anew, perhaps from elsewhere.
    mutating func restart(_ sender: Sender) { shifts[sender] = nil }

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
    package func elapsed(at instant: Instant) -> Duration { anchor.elapsed + anchor.instant.duration(to: instant) }
}
