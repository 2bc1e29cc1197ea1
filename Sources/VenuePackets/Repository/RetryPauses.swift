import IndoorVocabulary

/// Tries again what failed for a passing reason, after pauses that double and are partly random.
struct RetryPauses: Sendable {
    /// The longest first pause.
    let first: Duration
    /// Of what is random in the pauses.
    let seed: UInt64
    /// Passes the time.
    let sleep: @Sendable (Duration) async throws -> Void
    /// Is told what failed, and how long it is until the next attempt.
    let report: @Sendable (VenueRepositoryError, Duration) -> Void

    /// Runs the body up to so many times.
    ///
    /// - Throws: what the body threw last, or `.cancelled`.
    func run<Success: Sendable>(
        attempts: Int, _ body: () async throws(VenueRepositoryError) -> Success
    ) async throws(VenueRepositoryError) -> Success {
        var backoff = Backoff(first: first, seed: seed)
        for _ in 1..<max(attempts, 1) {
            do throws(VenueRepositoryError) {
                return try await body()
            } catch {
                guard error.isTransient else { throw error }
                let pause = backoff.next()
                report(error, pause)
                do { try await sleep(pause) } catch { throw .cancelled }
            }
        }
        return try await body()
    }
}
