import BeaconScanning
import IndoorVocabulary

/// Something that delivers readings, and what becomes of it when it fails.
struct Delivery: Hashable, Sendable {
    var backoff: Backoff
    /// When it is to be begun again; nil if it has not failed.
    var resumeAt: Instant?
    /// Whether it has nothing more to deliver.
    var hasEnded = false

    init(backoff: Backoff) { self.backoff = backoff }

    /// A new session, or none.
    mutating func begin() {
        backoff.reset()
        resumeAt = nil
        hasEnded = false
    }

    /// It has failed: it is begun again after a pause.
    mutating func fail(at now: Instant) { resumeAt = now.advanced(by: backoff.next()) }

    /// Moves what is due onto a timeline that begins elsewhere.
    mutating func shift(by duration: Duration) { resumeAt = resumeAt?.advanced(by: duration) }

    /// Whether it is to be begun again now.
    mutating func resume(at now: Instant) -> Bool {
        guard let due = resumeAt, due <= now else { return false }
        resumeAt = nil
        return true
    }
}

// The scan, and the satellite receiver beside it: neither ends the other.
extension LocalizationMachine {
    /// The scan has failed: unless the session ends with that, scan again after a pause.
    mutating func loseSource(_ error: any Error, at now: Instant) -> Transition {
        let error = LocalizationError(endOfScan: error, pace: pace, isOnlySender: receiver == nil)
        guard !error.endsSession else { return end(with: .error(error), at: now) }
        scan.fail(at: now)
        // As a radio that is off: it hears nothing until it tells, or delivers.
        isDeaf = true
        listened.pause(at: now)
        return Transition(state: state, directives: [.report(error)])
    }

    /// The receiver has failed: without satellites a session goes on, whatever the error.
    mutating func loseReceiver(_ error: any Error, at now: Instant) -> Transition {
        guard receiver != nil else { return Transition(state: state) }
        var error = LocalizationError(reporting: error, code: .generic, "the satellite receiver failed")
        if error.endsSession { error.code = .generic }
        receiver?.fail(at: now)
        return Transition(state: state, directives: [.report(error)])
    }

    /// The scan has nothing more to deliver; the session ends with the last that delivers.
    mutating func endScan(at now: Instant) -> Transition {
        scan.hasEnded = true
        return receiver?.hasEnded ?? true ? finish(at: now) : Transition(state: state)
    }

    mutating func endReceiver(at now: Instant) -> Transition {
        guard receiver != nil else { return Transition(state: state) }
        receiver?.hasEnded = true
        return scan.hasEnded ? finish(at: now) : Transition(state: state)
    }

    /// A receiver that rested while the venue was known is to receive again; nothing if it does.
    mutating func wakeReceiver() -> [Directive] {
        guard receiver?.hasEnded == true, !scan.hasEnded else { return [] }
        receiver?.begin()
        return [.startReceiving]
    }

    /// What delivers again has the shortest pause before it when it fails the next time.
    mutating func noteDelivery(of reading: SensorReading) {
        if case .gnss = reading, receiver != nil { receiver?.backoff.reset() } else { scan.backoff.reset() }
    }
}

extension LocalizationError {
    /// The error that a session reports when its scan fails.
    ///
    /// - Parameters:
    ///   - error: the source's error. A `LocalizationError` keeps its code; any other error ends the session.
    ///   - pace: of the source. On a recording, no time passes without readings: a pause before the next scan would
    ///     never end, so that the session ends with every error.
    ///   - isOnlySender: whether nothing else delivers readings; beside a receiver, the session survives an unknown
    ///     error.
    init(endOfScan error: any Error, pace: ScanPace, isOnlySender: Bool) {
        self.init(reporting: error, code: isOnlySender ? .critical : .generic, "the scan failed")
        if pace == .recorded, !endsSession { code = .critical }
    }
}
