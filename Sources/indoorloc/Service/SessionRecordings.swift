import Foundation
import IndoorLocalization
import ScanRecording

extension RecordingFolder {
    /// Returns the recordings of a session.
    func recordings(_ traceID: TraceID, wallClock: @escaping @Sendable () -> WallClock?) -> SessionRecordings {
        SessionRecordings(folder: self, traceID: traceID, wallClock: wallClock)
    }
}

/// The recordings of a service in a folder, a file for each hour, of a limited total size.
///
/// A file that can't be written is reported and given up, and the service goes on. The next hour begins a new file.
final class SessionRecordings {
    /// The time between two checks of the size.
    private static let checkInterval = Duration.seconds(60)

    private let folder: RecordingFolder
    private let wallClock: @Sendable () -> WallClock?
    private let traceID: TraceID?
    private let now: () -> ContinuousClock.Instant
    private var recorder: LiveRecorder?
    /// The name of the current file.
    private var name: String?
    /// The time at which the next file begins; nil before the first reading.
    private var end: ContinuousClock.Instant?
    private var nextCheck: ContinuousClock.Instant?

    /// Creates recordings in an existing folder.
    ///
    /// - Parameter wallClock: the source's wall clock, for the start times; nil uses the machine's clock.
    init(
        folder: RecordingFolder, traceID: TraceID? = nil, wallClock: @escaping @Sendable () -> WallClock? = { nil },
        now: @escaping () -> ContinuousClock.Instant = { .now }
    ) {
        (self.folder, self.traceID) = (folder, traceID)
        (self.wallClock, self.now) = (wallClock, now)
    }

    /// Writes a reading.
    func write(_ reading: SensorReading) {
        let time = now()
        if end.map({ time >= $0 }) ?? true { begin(at: time) }
        do { try recorder?.write(reading) } catch { giveUp(error) }
        if nextCheck.map({ time >= $0 }) ?? true { prune(at: time) }
    }

    /// Completes the current file.
    func finish() {
        do { try recorder?.close() } catch { report(error) }
        recorder = nil
        name = nil
    }

    private func begin(at time: ContinuousClock.Instant) {
        finish()
        end = time.advanced(by: RecordingFolder.span)
        nextCheck = nil
        let name = folder.freeName(at: Int64(Date().timeIntervalSince1970 * 1e6))
        let path = folder.path + "/" + name
        do {
            let output = OutputFile(path: path, isPrivate: true)
            recorder = try LiveRecorder(
                RecordTarget(output: output, format: .recording, traceID: traceID),
                wallClock: wallClock)
            self.name = name
        } catch { report(error) }
    }

    /// Ends the current file after an error. What it contains stays readable.
    private func giveUp(_ error: any Error) {
        report(error)
        try? recorder?.close()
        recorder = nil
        name = nil
    }

    private func report(_ error: any Error) {
        StandardError.line("\(error); the service goes on, and the next recording begins within an hour", .warning)
    }

    /// Deletes the oldest recordings, and ends the current one if it alone exceeds the limit.
    private func prune(at time: ContinuousClock.Instant) {
        nextCheck = time.advanced(by: Self.checkInterval)
        let bytes = folder.prune(keeping: Set([name].compactMap(\.self)))
        guard let name, bytes > folder.limit else { return }
        StandardError.line(
            "\(folder.path)/\(name) exceeds --record-limit and ends; the next recording begins within an hour", .warning
        )
        finish()
    }
}

/// The recording of a session's readings, beside the session.
///
/// The source's readings wait in a buffer for the disk, so that a slow disk never delays the session.
struct RecordingCompanion: SessionCompanion {
    private let readings: AsyncStream<SensorReading>
    private let waiting: AsyncStream<SensorReading>.Continuation
    private let lost = LostReadings()
    private let makeRecordings: @Sendable () -> SessionRecordings

    /// - Parameters:
    ///   - capacity: the maximum number of readings that wait for the disk.
    ///   - makeRecordings: creates the recordings.
    init(capacity: Int = 65_536, _ makeRecordings: @escaping @Sendable () -> SessionRecordings) {
        (readings, waiting) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(capacity))
        self.makeRecordings = makeRecordings
    }

    /// Adds a reading of the source.
    func receive(_ reading: SensorReading) {
        if case .dropped = waiting.yield(reading) { lost.add() }
    }

    func run(beside localizer: Localizer) async {
        let recordings = makeRecordings()
        for await reading in readings { recordings.write(reading) }
        recordings.finish()
        if lost.total > 0 { StandardError.line("--record: \(lost.total.counting("reading")) lost", .warning) }
    }
}
