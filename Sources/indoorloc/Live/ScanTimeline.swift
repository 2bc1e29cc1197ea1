import IndoorLocalization

/// Tells a live scan's instants as time since its first reading, and what time it is between readings.
struct ScanTimeline {
    private let clock = ContinuousClock()
    private var origin: Instant?
    private var latest: (instant: Instant, read: ContinuousClock.Instant)?

    /// The reading with its instant counted from the first one.
    mutating func rebase(_ reading: SensorReading) -> SensorReading {
        let start = origin ?? reading.instant
        origin = start
        var rebased = reading
        rebased.instant = Instant.zero.advanced(by: max(.zero, start.duration(to: reading.instant)))
        latest = (rebased.instant, clock.now)
        return rebased
    }

    /// The instant of the latest reading; zero before the first one.
    var last: Instant { latest?.instant ?? .zero }

    /// The present instant; zero before the first reading.
    var now: Instant {
        guard let latest else { return .zero }
        return latest.instant.advanced(by: latest.read.duration(to: clock.now))
    }
}
