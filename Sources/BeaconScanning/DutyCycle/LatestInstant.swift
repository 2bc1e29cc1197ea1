import IndoorVocabulary

/// The present on the timeline of a source that delivers, as far as its readings told.
final class LatestInstant: Sendable {
    private struct State {
        /// The latest reading's instant, and the clock's time when it came.
        var anchor: (instant: Instant, elapsed: Duration)?
        /// Whether the radio has told of something in the way of its scan, and heard nothing since.
        var isFailing = false
    }

    private let clock: SessionClock
    private let state = Guarded(State())

    /// Creates one that knows no instant.
    init(_ clock: SessionClock) { self.clock = clock }

    /// The present instant; nil before the first reading.
    var now: Instant? {
        let elapsed = clock.elapsed()
        return state.withLock { $0.anchor.map { $0.instant.advanced(by: elapsed - $0.elapsed) } }
    }

    /// Whether the radio could not hear now, whether it rests or not.
    var isFailing: Bool { state.withLock { $0.isFailing } }

    /// Takes in a reading that came now.
    func note(_ reading: SensorReading) {
        let elapsed = clock.elapsed()
        state.withLock { state in
            switch reading {
            case .radio(let event): state.isFailing = event.status.isFailure
            case .sighting, .advertisement: state.isFailing = false
            case .motion, .step, .pressure, .gnss, .fix: break
            }
            guard state.anchor.map({ reading.instant >= $0.instant }) ?? true else { return }
            state.anchor = (reading.instant, elapsed)
        }
    }
}
