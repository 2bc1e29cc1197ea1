import IndoorVocabulary

/// The waits for readings of the source that a session hasn't handled yet.
struct ReadingWaits: Sendable {
    /// The instant of the latest handled reading, on the session's timeline; nil before the first one.
    private(set) var latest: Instant?
    private var waits: [(instant: Instant, end: AsyncStream<Never>.Continuation)] = []

    /// Begins a wait for the readings up to an instant. The stream ends with the wait.
    mutating func begin(until instant: Instant) -> (stream: AsyncStream<Never>, end: AsyncStream<Never>.Continuation) {
        let (stream, end) = AsyncStream.makeStream(of: Never.self)
        waits.append((instant, end))
        return (stream, end)
    }

    /// Notes that the session has handled a reading, and ends the waits for it.
    mutating func note(_ instant: Instant) {
        latest = max(latest ?? instant, instant)
        guard !waits.isEmpty else { return }
        for wait in waits where wait.instant <= instant { wait.end.finish() }
        waits.removeAll { $0.instant <= instant }
    }

    /// Ends all waits, because the session has ended.
    mutating func endAll() {
        for wait in waits { wait.end.finish() }
        self = ReadingWaits()
    }
}
