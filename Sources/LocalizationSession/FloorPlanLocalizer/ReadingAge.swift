import IndoorVocabulary

/// How old the latest news of the radio are: what was heard last, and how late it came.
struct ReadingAge: Hashable, Sendable {
    /// When the latest news came.
    private(set) var arrival: Instant
    /// How long they were under way.
    private(set) var delay: Duration

    /// Takes in news.
    init(arrival: Instant, delay: Duration) {
        self.arrival = arrival
        self.delay = max(delay, .zero)
    }

    /// Time since anything came.
    func silence(at now: Instant) -> Duration { max(arrival.duration(to: now), .zero) }

    /// Time since the latest news were heard.
    func age(at now: Instant) -> Duration { silence(at: now) + delay }
}
