import Foundation
import IndoorLocalization
import ScanRecording
import Synchronization

/// A recording or a capture that plays as if it were heard now, each reading when it was; it may be a pipe.
///
/// It goes on while nobody listens, as the world does: what a radio at rest would have missed is missed.
final class PacedRecording: ScanSource {
    private let path: String
    /// How far into the recording it begins.
    private let start: Duration
    /// When it began; nil before somebody first listened.
    private let begun = Mutex<ContinuousClock.Instant?>(nil)
    private let cursor: RecordingCursor

    init(path: String, strictness: RecordingReader.Strictness, start: Duration) {
        self.path = path
        self.start = start
        cursor = RecordingCursor(path: path, strictness: strictness)
    }

    var pace: ScanPace { .live }

    /// The machine's clock, as the recording plays as if it were heard now; nil before it begins.
    var wallClock: WallClock? {
        guard let origin = begun.withLock({ $0 }) else { return nil }
        let instant = start + origin.duration(to: .now)
        var clock = WallClock(timeOfZero: .seconds(Date().timeIntervalSince1970) - instant)
        clock.measuredAt = clock.unixTime(at: Instant.zero.advanced(by: instant))
        return clock
    }

    /// Reads as far as it is to begin.
    ///
    /// - Throws: `PacedRecordingError` if it ends before, or what is wrong with the recording until there.
    func checkStart() async throws {
        guard start > .zero, try await cursor.next(from: .zero.advanced(by: start)) == nil else { return }
        throw PacedRecordingError(path: path, end: Instant.zero.duration(to: cursor.end))
    }

    func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        let now = ContinuousClock.now
        let origin = begun.withLock { begun in
            let origin = begun ?? now
            begun = origin
            return origin
        }
        let earliest = Instant.zero.advanced(by: start + origin.duration(to: now))
        return .produced { [start, cursor] continuation in
            while let reading = try await cursor.next(from: earliest) {
                let due = origin + (Instant.zero.duration(to: reading.instant) - start)
                if due > .now { try await Task.sleep(until: due, clock: .continuous) }
                try Task.checkCancellation()
                cursor.take()
                continuation.yield(reading)
            }
        }
    }
}

/// The place in a recording up to which it has been heard.
///
/// It is opened once. A pipe may have nothing for long, so it is read on threads of its own: one of those that tasks or
/// queues share would be missing elsewhere.
private final class RecordingCursor: Sendable {
    private struct State {
        var readings: RecordedReadings?
        /// Read, but not taken yet.
        var pending: SensorReading?
        var end = Instant.zero
    }

    private let path: String
    private let strictness: RecordingReader.Strictness
    private let state = Mutex(State())
    /// Held while something is read, so that one reads after the other.
    private let turn = NSLock()

    init(path: String, strictness: RecordingReader.Strictness) {
        self.path = path
        self.strictness = strictness
    }

    /// The last instant that was read.
    var end: Instant { state.withLock { $0.end } }

    /// The first reading that is not earlier; it stays the next one until it is taken. Nil at the end.
    func next(from earliest: Instant) async throws -> SensorReading? {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try self.turn.withLock { try self.read(from: earliest) } })
            }
        }
    }

    /// Passes over the next reading.
    func take() { state.withLock { $0.pending = nil } }

    private func read(from earliest: Instant) throws -> SensorReading? {
        let readings = try opened()
        while true {
            let pending = state.withLock { $0.pending }
            // Not within the lock: a pipe may have nothing for long.
            guard let reading = try pending ?? readings.next() else { return nil }
            state.withLock { state in
                state.pending = reading.instant < earliest ? nil : reading
                state.end = reading.instant
            }
            if reading.instant >= earliest { return reading }
        }
    }

    private func opened() throws -> RecordedReadings {
        if let readings = state.withLock({ $0.readings }) { return readings }
        let readings = try RecordedReadings(path: path, strictness: strictness)
        state.withLock { $0.readings = readings }
        return readings
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
