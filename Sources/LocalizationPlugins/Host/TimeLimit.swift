import IndoorVocabulary

/// A time limit for operations that may never end.
package struct TimeLimit: Sendable {
    /// The error of an operation that exceeds the limit.
    package struct Exceeded: Error, Hashable, CustomStringConvertible {
        /// The limit.
        package let limit: Duration

        package var description: String { "it took longer than \(limit)" }
    }

    /// The limit; nil for none.
    package let limit: Duration?
    private let clock: SessionClock

    /// Creates a limit that a clock measures.
    package init(_ limit: Duration?, clock: some Clock<Duration>) {
        self.limit = limit
        self.clock = SessionClock(clock)
    }

    /// Runs `body`, and returns at its end or at the limit; in the latter case, cancels `body` and ignores its result.
    ///
    /// - Throws: `Exceeded`, or the error of `body`.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let race = Race<Value>()
        // Not a task group: that would wait for all tasks, and a task that hangs doesn't end when it is cancelled.
        let work = Task {
            do { race.end(.success(try await body())) } catch { race.end(.failure(error)) }
        }
        let alarm = limit.map { limit in
            let deadline = clock.elapsed() + limit
            return Task { [clock] in
                guard (try? await clock.sleep(until: deadline)) != nil else { return }
                if race.end(.failure(Exceeded(limit: limit))) { work.cancel() }
            }
        }
        defer { alarm?.cancel() }
        return try await withTaskCancellationHandler {
            try await race.outcome()
        } onCancel: {
            work.cancel()
        }
    }
}

/// A race that returns the first of several results to one waiter.
private final class Race<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var outcome: Result<Value, any Error>?
        var waiter: CheckedContinuation<Value, any Error>?
    }

    private let state = Guarded(State())

    /// Ends the race with a result; returns whether it is the first one.
    @discardableResult func end(_ outcome: Result<Value, any Error>) -> Bool {
        let (isFirst, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Value, any Error>?) in
            guard state.outcome == nil else { return (false, nil) }
            state.outcome = outcome
            return (true, state.waiter)
        }
        waiter?.resume(with: outcome)
        return isFirst
    }

    func outcome() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiter = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(with: outcome) }
        }
    }
}
