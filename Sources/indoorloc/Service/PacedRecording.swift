import Foundation
import IndoorLocalization
import ScanRecording
import Synchronization

/// A recording or capture that plays in real time. It may be a pipe.
///
/// Its time continues while nothing reads it, so that a resting radio misses the same readings as in real use.
final class PacedRecording: ScanSource {
    private let path: String
    /// The offset into the recording at which it starts.
    private let start: Duration
    /// The time of the first call of `readings()`; nil before.
    private let begun = Mutex<ContinuousClock.Instant?>(nil)
    private let cursor: RecordingCursor

    init(path: String, strictness: RecordingReader.Strictness, start: Duration) {
        self.path = path
        self.start = start
        cursor = RecordingCursor(path: path, strictness: strictness)
    }

    var pace: ScanPace { .live }

    /// The machine's clock, as the recording plays in real time; nil before it starts.
    var wallClock: WallClock? {
        guard let origin = begun.withLock({ $0 }) else { return nil }
        let instant = start + origin.duration(to: .now)
        var clock = WallClock(timeOfZero: .seconds(Date().timeIntervalSince1970) - instant)
        clock.measuredAt = clock.unixTime(at: Instant.zero.advanced(by: instant))
        return clock
    }

    /// Reads up to the start offset.
    ///
    /// - Throws: `PacedRecordingError` if the recording ends earlier, or `RecordingError` if it is invalid.
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
        return ReadingFeed.readings { [start, cursor] feed in
            while let reading = try await cursor.next(from: earliest) {
                let due = origin + (Instant.zero.duration(to: reading.instant) - start)
                if due > .now { try await Task.sleep(until: due, clock: .continuous) }
                try Task.checkCancellation()
                cursor.advance()
                feed.yield(reading)
            }
        }
    }
}

/// The position in a recording up to which it has been played.
///
/// The file is opened once. A pipe may block for a long time, so it is read on the thread of a queue of its own, not on
/// those that tasks share.
private final class RecordingCursor: Sendable {
    private struct State {
        var readings: RecordedReadings?
        /// The reading that was read but not played yet.
        var pending: SensorReading?
        var end = Instant.zero
    }

    private let path: String
    private let strictness: RecordingReader.Strictness
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "PacedRecording")

    init(path: String, strictness: RecordingReader.Strictness) {
        self.path = path
        self.strictness = strictness
    }

    /// The instant of the last reading.
    var end: Instant { state.withLock { $0.end } }

    /// Returns the first reading at or after `earliest`, without advancing beyond it; nil at the end.
    func next(from earliest: Instant) async throws -> SensorReading? {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.read(from: earliest) }) }
        }
    }

    /// Advances beyond the next reading.
    func advance() { state.withLock { $0.pending = nil } }

    private func read(from earliest: Instant) throws -> SensorReading? {
        let readings = try opened()
        while true {
            let pending = state.withLock { $0.pending }
            // Outside the lock, as a pipe may block for a long time.
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

/// The error of a recording that ends before its start offset.
struct PacedRecordingError: Error, CustomStringConvertible {
    let path: String
    /// The length of the recording.
    let end: Duration

    var description: String {
        "\(path): the recording ends at \(JSONText.number(end.seconds, decimals: 1)) s; "
            + "use a smaller --replay-from"
    }
}

extension ParsedArguments {
    /// The recording given by `--replay`, to be read instead of the radio; nil without the option.
    ///
    /// - Throws: `UsageError` for options that can't be combined with it, or that require it.
    func replay() throws(UsageError) -> PacedRecording? {
        let start = Duration.seconds(try seconds("replay-from", in: 0...31_536_000, else: 0))
        guard let path = value("replay") else {
            guard has("replay-from") else { return nil }
            throw UsageError(message: "--replay-from requires --replay", command: syntax.name)
        }
        if let name = ["adapter", "route", "imu"].first(where: has) {
            let message = "--\(name) can't be combined with --replay, which replaces radio and sensors"
            throw UsageError(message: message, command: syntax.name)
        }
        return PacedRecording(path: Self.path(path), strictness: .strict, start: start)
    }
}
