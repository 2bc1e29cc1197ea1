import IndoorLocalization
import ScanRecording
import Synchronization

/// A recording that plays as if it were heard now, each reading when it was.
///
/// It goes on while nobody listens, as the world does: what a radio at rest would have missed is missed.
final class PacedRecording: ScanSource {
    private let path: String
    private let strictness: RecordingReader.Strictness
    /// How far into the recording it begins.
    private let start: Duration
    /// When it began; nil before somebody first listened.
    private let begun = Mutex<ContinuousClock.Instant?>(nil)

    init(path: String, strictness: RecordingReader.Strictness, start: Duration) {
        self.path = path
        self.strictness = strictness
        self.start = start
    }

    var pace: ScanPace { .live }

    func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        let now = ContinuousClock.now
        let origin = begun.withLock { begun in
            let origin = begun ?? now
            begun = origin
            return origin
        }
        let recording = RecordingSource(path: path, strictness: strictness)
        let earliest = Instant.zero.advanced(by: start + origin.duration(to: now))
        return AsyncThrowingStream { [start] continuation in
            let task = Task {
                do {
                    for try await reading in recording.readings() where reading.instant >= earliest {
                        let due = origin + (Instant.zero.duration(to: reading.instant) - start)
                        if due > .now { try await Task.sleep(until: due, clock: .continuous) }
                        continuation.yield(reading)
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
