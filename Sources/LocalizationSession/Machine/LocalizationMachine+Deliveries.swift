import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// The retry state of a sender of readings.
struct Delivery: Hashable, Sendable {
    var backoff: Backoff
    /// The instant of the next attempt; nil if the sender hasn't failed.
    var resumeAt: Instant?
    /// Whether the sender has ended.
    var hasEnded = false

    init(backoff: Backoff) { self.backoff = backoff }

    /// Resets the state at the beginning or the end of a session.
    mutating func begin() {
        backoff.reset()
        resumeAt = nil
        hasEnded = false
    }

    /// Schedules the next attempt after a failure.
    mutating func fail(at now: Instant) { resumeAt = now.advanced(by: backoff.next()) }

    /// Moves the next attempt to a timeline with another origin.
    mutating func shift(by duration: Duration) { resumeAt = resumeAt?.advanced(by: duration) }

    /// Returns whether the next attempt is due, and clears it.
    mutating func resume(at now: Instant) -> Bool {
        guard let due = resumeAt, due <= now else { return false }
        resumeAt = nil
        return true
    }
}

// The scan and the satellite receiver. The end of one doesn't end the other.
extension LocalizationMachine {
    /// Handles a failed scan: schedules another scan, unless the error ends the session.
    mutating func loseSource(_ error: any Error, at now: Instant) -> Transition {
        let error = LocalizationError(endOfScan: error, pace: pace, isOnlySender: receiver == nil)
        guard !error.endsSession else { return end(with: .error(error), at: now) }
        scan.fail(at: now)
        // A failed scan counts as a radio that is off, until the radio reports that it receives or delivers a reading.
        isDeaf = true
        diagnosing.scanFailure = error
        listened.pause(at: now)
        return Transition(state: state, directives: [.report(error)])
    }

    /// Handles a failed satellite receiver. The session continues without it after any error.
    mutating func loseReceiver(_ error: any Error, at now: Instant) -> Transition {
        guard receiver != nil else { return Transition(state: state) }
        var error = LocalizationError(reporting: error, code: .generic, "the satellite receiver failed")
        if error.endsSession { error.code = .generic }
        receiver?.fail(at: now)
        return Transition(state: state, directives: [.report(error)])
    }

    /// Handles the end of the scan. The session ends when all senders have ended.
    mutating func endScan(at now: Instant) -> Transition {
        scan.hasEnded = true
        return receiver?.hasEnded ?? true ? finish(at: now) : Transition(state: state)
    }

    mutating func endReceiver(at now: Instant) -> Transition {
        guard receiver != nil else { return Transition(state: state) }
        receiver?.hasEnded = true
        return scan.hasEnded ? finish(at: now) : Transition(state: state)
    }

    /// Starts the satellite receiver again if it ended while the venue was known; returns nothing if it is running.
    mutating func wakeReceiver() -> [Directive] {
        guard receiver?.hasEnded == true, !scan.hasEnded else { return [] }
        receiver?.begin()
        return [.startReceiving]
    }

    /// Resets the retry pause of a sender that delivers again.
    mutating func noteDelivery(of reading: SensorReading) {
        if case .gnss = reading, receiver != nil { receiver?.backoff.reset() } else { scan.backoff.reset() }
    }
}

extension LocalizationError {
    /// Creates the error that a session reports when its scan fails.
    ///
    /// - Parameters:
    ///   - error: the source's error. A `LocalizationError` keeps its code; any other error ends the session.
    ///   - pace: the pace of the source. On a recording, time passes with the readings only, so that a pause before the
    ///     next scan would never end. Every error therefore ends the session.
    ///   - isOnlySender: whether the scan is the only sender; with a satellite receiver, an unknown error doesn't end
    ///     the session.
    init(endOfScan error: any Error, pace: ScanPace, isOnlySender: Bool) {
        self.init(reporting: error, code: isOnlySender ? .critical : .generic, "the scan failed")
        if pace == .recorded, !endsSession { code = .critical }
    }
}

extension LocalizationMachine {
    /// The longest prediction beyond the latest position.
    private static var longestCarry: Duration { .seconds(10) }

    /// Returns the position of the device at an instant; nil while the session emits no positions.
    ///
    /// Up to the latest position, the method interpolates between two positions. After it, the method predicts the
    /// position from all readings so far, without changing the session.
    package func position(at instant: Instant) -> Position? {
        guard case .localizationRunning(let running) = state, let visit, let latest = visit.history.latest else {
            return nil
        }
        if instant <= latest.instant { return visit.history.position(at: instant) }
        guard latest.instant.duration(to: instant) <= Self.longestCarry else { return nil }
        var later = visit
        later.belief.advance(to: instant)
        later.findFloor(at: instant)
        return later.position(on: running.mapID, at: instant)
    }
}
