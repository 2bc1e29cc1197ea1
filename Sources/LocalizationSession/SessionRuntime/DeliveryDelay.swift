import IndoorVocabulary

/// How late readings come, against the one that came quickest.
///
/// The clock that a source counts on and the one that the session waits on have no common zero. The least difference
/// between them so far is taken for a delivery without delay: what is told is how much longer another one took.
struct DeliveryDelay: Hashable, Sendable {
    /// The clock's time less the source's, as of the quickest delivery.
    private var least: Duration?
    private var latest: Duration = .zero

    /// Two clocks may drift apart by so much of the time: quartz is within 50 parts in a million.
    private static let drift = 1e-4

    /// Takes in when a reading was made, and when it came; returns how late it came.
    mutating func observe(_ instant: Instant, at elapsed: Duration) -> Duration {
        let difference = elapsed - .nanoseconds(instant.nanoseconds)
        let pause = elapsed - latest
        latest = elapsed
        guard let least else {
            self.least = difference
            return .zero
        }
        let slack = pause > .zero ? .seconds(pause.seconds * Self.drift) : Duration.zero
        let base = min(least + slack, difference)
        self.least = base
        return difference - base
    }
}
