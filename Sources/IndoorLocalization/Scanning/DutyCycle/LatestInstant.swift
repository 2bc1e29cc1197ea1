/// The present on the timeline of a source that delivers, as far as its readings told.
final class LatestInstant: Sendable {
    private let clock: SessionClock
    /// The latest reading's instant, and the clock's time when it came.
    private let anchor = Guarded<(instant: Instant, elapsed: Duration)?>(nil)
    /// Whether the radio has told of something in the way of its scan, and heard nothing since.
    private let failing = Guarded(false)

    /// Creates one that knows no instant.
    init(_ clock: SessionClock) { self.clock = clock }

    /// The present instant; nil before the first reading.
    var now: Instant? {
        let elapsed = clock.elapsed()
        return anchor.withLock { $0.map { $0.instant.advanced(by: elapsed - $0.elapsed) } }
    }

    /// Whether the radio could not hear now, whether it rests or not.
    var isFailing: Bool { failing.withLock { $0 } }

    /// Takes in a reading that came now.
    func note(_ reading: SensorReading) {
        switch reading {
        case .radio(let event): failing.withLock { $0 = event.status.isFailure }
        case .sighting, .advertisement: failing.withLock { $0 = false }
        case .motion, .step, .pressure, .gnss, .fix: break
        }
        let elapsed = clock.elapsed()
        anchor.withLock { anchor in
            guard anchor.map({ reading.instant >= $0.instant }) ?? true else { return }
            anchor = (reading.instant, elapsed)
        }
    }
}
