import IndoorVocabulary

/// How long somebody may take who may never come to an end.
package struct TimeLimit: Sendable {
    /// Nobody has come to an end within the limit.
    package struct Exceeded: Error, Hashable, CustomStringConvertible {
        /// What was allowed.
        package let limit: Duration

        package var description: String { "it took longer than \(limit)" }
    }

    /// What is allowed; nil for any time.
    package let limit: Duration?
    private let clock: SessionClock

    /// Creates a limit by a clock.
    package init(_ limit: Duration?, clock: some Clock<Duration>) {
        self.limit = limit
        self.clock = SessionClock(clock)
    }

    /// Runs `body`, and returns when it has ended or its time is over: then it is cancelled, and what becomes of it does
    /// not matter any more.
    ///
    /// - Throws: `Exceeded`, or what `body` throws.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let race = Race<Value>()
        // No group of tasks: that would wait for all of them, and one that hangs does not end by being cancelled.
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

/// What comes first of several ends, for one who waits for it.
private final class Race<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var outcome: Result<Value, any Error>?
        var waiter: CheckedContinuation<Value, any Error>?
    }

    private let state = Guarded(State())

    /// Ends it; returns whether this was the first end.
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
