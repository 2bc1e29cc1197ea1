import IndoorVocabulary

/// The age of the latest radio reading: its arrival and its delivery delay.
struct ReadingAge: Hashable, Sendable {
    /// The instant at which the reading arrived.
    private(set) var arrival: Instant
    /// The time between reception and arrival.
    private(set) var delay: Duration

    /// Creates the age of a reading.
    init(arrival: Instant, delay: Duration) {
        self.arrival = arrival
        self.delay = max(delay, .zero)
    }

    /// Returns the time since the arrival.
    func silence(at now: Instant) -> Duration { max(arrival.duration(to: now), .zero) }

    /// Returns the time since the reception.
    func age(at now: Instant) -> Duration { silence(at: now) + delay }
}
