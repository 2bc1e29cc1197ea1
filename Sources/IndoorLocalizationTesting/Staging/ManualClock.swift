import IndoorLocalization

/// A clock that stands still until a test moves it.
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
        var nextKey: UInt64 = 0

        var pending: [Instant] { sleepers.values.filter { $0 > now }.sorted() }
    }

    private let state: WatchedState<State>

    /// Creates a clock that stands at `now`.
    public init(now: Instant = .zero) { state = WatchedState(State(now: now)) }

    /// Where the clock stands.
    public var now: Instant { state.value.now }
    /// A nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }
    /// When those who sleep want to be woken, the earliest first.
    public var deadlines: [Instant] { state.value.pending }

    /// Sleeps until the clock was moved to `deadline` or beyond; `tolerance` is not used.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before that.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let key = state.update { state in
            state.nextKey += 1
            state.sleepers[state.nextKey] = deadline
            return state.nextKey
        }
        defer { state.update { _ = $0.sleepers.removeValue(forKey: key) } }
        try await state.wait { $0.now >= deadline }
    }

    /// Moves the clock on, and wakes those whose time has come. A negative duration moves nothing.
    public func advance(by duration: Duration) {
        state.update { $0.now = max($0.now, $0.now.advanced(by: duration)) }
    }

    /// Moves the clock to `instant`, unless it is there already, and wakes those whose time has come.
    public func advance(to instant: Instant) {
        state.update { $0.now = max($0.now, instant) }
    }

    /// Waits until somebody sleeps who wants to be woken by `latest`, or ever if that is nil.
    ///
    /// - Returns: when the first of them wants to be woken; move the clock there to do so.
    /// - Throws: `CancellationError` when the task is cancelled before that.
    @discardableResult public func waitForSleeper(dueBy latest: Instant? = nil) async throws -> Instant {
        let due: @Sendable (State) -> Instant? = { state in
            state.pending.first.flatMap { first in latest.map { first <= $0 } ?? true ? first : nil }
        }
        while true {
            try await state.wait { due($0) != nil }
            // Whoever slept may have been cancelled since.
            if let first = due(state.value) { return first }
        }
    }

    /// Returns as soon as nobody sleeps.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before that.
    public func waitUntilNobodySleeps() async throws {
        try await state.wait { $0.sleepers.isEmpty }
    }
}
