import IndoorVocabulary

/// The delivery delay of readings, relative to the quickest delivery.
///
/// The clocks of the source and of the session have different zeros. The smallest difference between them so far counts
/// as a delivery without delay. The delay of another delivery is the amount by which its difference is larger.
struct DeliveryDelay: Hashable, Sendable {
    /// The clock's time minus the source's, for the quickest delivery.
    private var least: Duration?
    private var latest: Duration = .zero

    /// The greatest relative drift between two clocks; each quartz is within 50 parts in a million.
    private static let drift = 1e-4

    /// Handles a reading's instant and the clock's time at its arrival; returns the delay.
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
