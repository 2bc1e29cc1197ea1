/// A change in the connection of a sender, for a log.
public enum NMEAStatus: Hashable, Sendable {
    /// Sentences are written; `lost` is the number of positions that were lost since the last failure.
    case sending(lost: Int)
    /// Sentences can't be written. The sender tries again, and keeps the newest positions. Each error is reported once.
    case failed(NMEAError)
    /// A reader of a listening sender is too slow, and loses positions.
    case readerTooSlow
}

/// The selection of the connection changes that a log contains.
///
/// A destination that accepts one position and fails at the next doesn't count as working, so that the same failure
/// isn't reported repeatedly.
struct StatusLog: Sendable {
    /// The number of successive positions without an error after which a destination counts as working.
    private let proof: Int
    private var written = 0
    private var isWorking = false
    private var reported: NMEAError?

    /// Creates a log.
    ///
    /// - Parameter isDatagram: whether the system reports the loss of a position only later, after some seconds if the
    ///   host doesn't answer.
    init(isDatagram: Bool) { proof = isDatagram ? 10 : 2 }

    /// Notes a position that was written without an error.
    mutating func succeed(losses: () -> Int) -> NMEAStatus? {
        written += 1
        guard !isWorking, written >= proof else { return nil }
        isWorking = true
        reported = nil
        return .sending(lost: losses())
    }

    /// Notes a failure.
    mutating func fail(_ error: NMEAError) -> NMEAStatus? {
        written = 0
        isWorking = false
        guard reported != error else { return nil }
        reported = error
        return .failed(error)
    }
}
