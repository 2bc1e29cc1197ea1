/// The present on the timeline of a source that delivers, as far as its readings told.
final class LatestInstant: Sendable {
    private let clock: SessionClock
    /// The latest reading's instant, and the clock's time when it came.
    private let anchor = Guarded<(instant: Instant, elapsed: Duration)?>(nil)

    /// Creates one that knows no instant.
    init(_ clock: SessionClock) { self.clock = clock }

    /// The present instant; nil before the first reading.
    var now: Instant? {
        let elapsed = clock.elapsed()
        return anchor.withLock { $0.map { $0.instant.advanced(by: elapsed - $0.elapsed) } }
    }

    /// Takes in a reading that came now.
    func note(_ reading: SensorReading) {
        let elapsed = clock.elapsed()
        anchor.withLock { anchor in
            guard anchor.map({ reading.instant >= $0.instant }) ?? true else { return }
            anchor = (reading.instant, elapsed)
        }
    }
}
