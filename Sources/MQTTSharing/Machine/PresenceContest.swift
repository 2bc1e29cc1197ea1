import IndoorVocabulary

/// The contest for this device's own presence: another client keeps replacing or removing it.
///
/// The device publishes its presence again after a pause, which doubles up to a minute, so that two programs with the
/// same device ID don't replace each other's presence in a loop.
struct PresenceContest: Hashable, Sendable {
    /// The number of losses after which the device reports the contest.
    static let reportedLoss = 3
    /// The contest ends when the presence has stayed unchanged for this time.
    static let calm = Duration.seconds(180)

    private var backoff: Backoff
    private var losses = 0
    private var lastLoss: Instant?

    init(seed: UInt64) { backoff = Backoff(first: .seconds(1), seed: seed) }

    /// Records that the presence was replaced or removed.
    ///
    /// - Returns: The pause before the device publishes its presence again, and whether to report the contest: once
    ///   until it ends.
    mutating func lose(at now: Instant) -> (pause: Duration, isReported: Bool) {
        if let lastLoss, lastLoss.duration(to: now) > Self.calm {
            losses = 0
            backoff.reset()
        }
        lastLoss = now
        losses += 1
        return (backoff.next(), losses == Self.reportedLoss)
    }
}
