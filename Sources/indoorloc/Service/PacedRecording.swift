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

    /// Reads as far as it is to begin.
    ///
    /// - Throws: `PacedRecordingError` if it ends before, or what is wrong with the recording until there.
    func checkStart() async throws {
        guard start > .zero else { return }
        var end = Duration.zero
        for try await reading in RecordingSource(path: path, strictness: strictness).readings() {
            end = Instant.zero.duration(to: reading.instant)
            if end >= start { return }
        }
        throw PacedRecordingError(path: path, end: end)
    }

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

/// A recording that ends before the place where it is to begin.
struct PacedRecordingError: Error, CustomStringConvertible {
    let path: String
    /// How long it is.
    let end: Duration

    var description: String {
        "\(path): the recording ends at \(JSONText.number(end.seconds, decimals: 1)) s; "
            + "let --replay-from be less"
    }
}
