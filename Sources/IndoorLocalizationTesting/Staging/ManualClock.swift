import IndoorLocalization

/// A clock that only advances when a test advances it.
///
///     let clock = ManualClock()
///     let localizer = Localizer(source: source, venues: venues, clock: clock)
///     …
///     let alarm = try await clock.waitForSleeper()   // the localizer has set its alarm
///     clock.advance(to: alarm)                       // and now it rings
public final class ManualClock: Clock, Sendable {
    /// A point on the clock's timeline, with nanosecond resolution.
    public typealias Instant = IndoorLocalization.Instant

    private struct State: Sendable {
        var now: Instant
        var sleepers: [UInt64: Instant] = [:]
        /// The keys of the cancelled tasks that have not gone on yet.
        var cancelled: Set<UInt64> = []
        var nextKey: UInt64 = 0

        var pending: [Instant] { sleepers.values.filter { $0 > now }.sorted() }
    }

    private let state: WatchedState<State>

    /// Creates a clock that shows `now`.
    public init(now: Instant = .zero) { state = WatchedState(State(now: now)) }

    /// The clock's current time.
    public var now: Instant { state.value.now }
    /// A nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }
    /// The deadlines of the sleeping tasks, the earliest first.
    public var deadlines: [Instant] { state.value.pending }

    /// Sleeps until the clock reaches `deadline`; `tolerance` is not used.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before that.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let key = state.update { state in
            state.nextKey += 1
            return state.nextKey
        }
        defer {
            state.update { state in
                state.sleepers[key] = nil
                state.cancelled.remove(key)
            }
        }
        // A cancelled task doesn't sleep any more, although it may go on much later; and one that is cancelled before it
        // sleeps is never seen asleep.
        try await withTaskCancellationHandler {
            state.update { state in
                guard !state.cancelled.contains(key) else { return }
                state.sleepers[key] = deadline
            }
            try await state.wait { $0.now >= deadline }
        } onCancel: {
            state.update { state in
                state.sleepers[key] = nil
                state.cancelled.insert(key)
            }
        }
    }

    /// Advances the clock, and wakes the tasks whose deadlines have passed. A negative duration has no effect.
    public func advance(by duration: Duration) {
        state.update { $0.now = max($0.now, $0.now.advanced(by: duration)) }
    }

    /// Advances the clock to `instant`, unless it is later already, and wakes the tasks whose deadline has passed.
    public func advance(to instant: Instant) {
        state.update { $0.now = max($0.now, instant) }
    }

    /// Waits until a task sleeps whose deadline is at most `latest`, or any task if that is nil.
    ///
    /// - Returns: the earliest deadline. Advance the clock to it to wake the task.
    /// - Throws: `CancellationError` if the task is cancelled before that.
    @discardableResult public func waitForSleeper(dueBy latest: Instant? = nil) async throws -> Instant {
        let due: @Sendable (State) -> Instant? = { state in
            state.pending.first.flatMap { first in latest.map { first <= $0 } ?? true ? first : nil }
        }
        while true {
            try await state.wait { due($0) != nil }
            // The sleeping task may have been cancelled since.
            if let first = due(state.value) { return first }
        }
    }

    /// Waits until no task sleeps.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before that.
    public func waitUntilNobodySleeps() async throws {
        try await state.wait { $0.sleepers.isEmpty }
    }
}
