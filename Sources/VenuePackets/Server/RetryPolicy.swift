import IndoorVocabulary

/// The timeouts and retries of requests to a server.
public struct RetryPolicy: Hashable, Sendable {
    /// The longest time for a connection, including TLS; above 0 s, at most an hour.
    public var connectTimeout = Duration.seconds(10)
    /// A transfer that stays slower than `slowestRate` for this long is stopped; at least 1 s, at most an hour, rounded
    /// up to whole seconds.
    public var stallTimeout = Duration.seconds(20)
    /// The slowest acceptable rate in bytes per second, above 0; a slower transfer is stalled.
    public var slowestRate = 100
    /// The longest time for one transfer, including redirects; above 0 s, at most an hour. A file whose size is in the
    /// catalogue may take one more second per 16 KiB.
    public var transferTimeout = Duration.seconds(60)
    /// The longest time to wait for a newer venue or catalogue from the server if one is stored; from 0 s to an hour.
    /// After that, the repository uses the stored one and the transfer continues in the background.
    public var grace = Duration.seconds(1)
    /// The number of attempts, in [1, 100], if nothing usable is stored; otherwise one attempt is made.
    public var attempts = 3
    /// The longest pause before the second attempt; later pauses double. From 0 s to an hour.
    public var firstPause = Duration.seconds(1)

    /// Creates the default policy.
    public init() {}

    /// Returns the longest time for a transfer of `size` bytes; nil if the size is unknown.
    func deadline(for size: Int?) -> Duration { transferTimeout + .seconds((size ?? 0) / Self.leastPace) }

    /// The slowest average rate in bytes per second that is accepted for a large file, slow enough for a slow mobile
    /// network.
    private static let leastPace = 16 << 10

    /// The first value that is out of range; nil if there is none.
    var problem: String? {
        let hour = Duration.seconds(3_600)
        if connectTimeout < .milliseconds(1) || connectTimeout > hour {
            return "connectTimeout must be in [0.001, 3600] s, not \(connectTimeout.seconds)"
        }
        if stallTimeout < .seconds(1) || stallTimeout > hour {
            return "stallTimeout must be in [1, 3600] s, not \(stallTimeout.seconds)"
        }
        if slowestRate < 1 || slowestRate > 1 << 30 {
            return "slowestRate must be in [1, 2^30] B/s, not \(slowestRate)"
        }
        if transferTimeout < .milliseconds(1) || transferTimeout > hour {
            return "transferTimeout must be in [0.001, 3600] s, not \(transferTimeout.seconds)"
        }
        if grace < .zero || grace > hour { return "grace must be in [0, 3600] s, not \(grace.seconds)" }
        if attempts < 1 || attempts > 100 { return "attempts must be in [1, 100], not \(attempts)" }
        if firstPause < .zero || firstPause > hour {
            return "firstPause must be in [0, 3600] s, not \(firstPause.seconds)"
        }
        return nil
    }
}

/// Retries an operation after transient failures, with pauses that double and are partly random.
struct RetryPauses: Sendable {
    /// The longest first pause.
    let first: Duration
    /// The seed of the random part of the pauses.
    let seed: UInt64
    /// Waits for a duration.
    let sleep: @Sendable (Duration) async throws -> Void
    /// Called with the failure and the time until the next attempt.
    let report: @Sendable (VenueRepositoryError, Duration) -> Void

    /// Runs the body up to the given number of times.
    ///
    /// - Throws: the last error of the body, or `.cancelled`.
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
