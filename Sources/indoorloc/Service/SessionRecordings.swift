import Foundation
import IndoorLocalization
import ScanRecording
import VenuePackets

extension CommandOption {
    static let recordFolder = CommandOption(
        name: "record", argument: "DIR",
        help: "also record the readings in this folder, a file for each hour")
    static let recordLimit = CommandOption(
        name: "record-limit", argument: "MB",
        help: "delete the oldest of these files beyond N megabytes (default \(SessionRecordings.standardMegabytes))")
}

/// The options of `serve` for recordings.
struct RecordingFolder: Sendable {
    private let folder: String
    private let limit: Int

    /// Returns nil without `--record`.
    init?(_ arguments: ParsedArguments) throws(UsageError) {
        let megabytes = try arguments.number(
            "record-limit", in: 1...1_000_000, else: SessionRecordings.standardMegabytes)
        guard let folder = try arguments.folder("record") else {
            guard !arguments.has("record-limit") else {
                throw UsageError(message: "--record-limit requires --record", command: arguments.syntax.name)
            }
            return nil
        }
        (self.folder, limit) = (folder, megabytes * 1_000_000)
    }

    /// Creates the folder if it is missing, before the session begins.
    ///
    /// - Throws: `CommandError` if files can't be written in the folder.
    func prepare() throws(CommandError) {
        try ParsedArguments.createFolder(folder, of: "record")
    }

    /// Returns the recordings of a session.
    func recordings(_ traceID: TraceID, wallClock: @escaping @Sendable () -> WallClock?) -> SessionRecordings {
        SessionRecordings(folder: folder, limit: limit, traceID: traceID, wallClock: wallClock)
    }
}

/// The recordings of a service in a folder, a file for each hour, of a limited total size.
///
/// A file that can't be written is reported and given up, and the service goes on. The next hour begins a new file.
final class SessionRecordings {
    static let standardMegabytes = 500
    /// The time that a file contains. `survey --self` uses the first hour of a recording.
    static let span = Duration.seconds(3600)
    /// The time between two checks of the size.
    private static let checkInterval = Duration.seconds(60)

    /// A file in the folder.
    struct File: Hashable {
        var name: String
        var bytes: Int
    }

    private let folder: String
    private let limit: Int
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
    /// - Parameters:
    ///   - limit: the size of the recordings in bytes at which the oldest ones are deleted.
    ///   - wallClock: the source's wall clock, for the start times; nil uses the machine's clock.
    init(
        folder: String, limit: Int, traceID: TraceID? = nil, wallClock: @escaping @Sendable () -> WallClock? = { nil },
        now: @escaping () -> ContinuousClock.Instant = { .now }
    ) {
        (self.folder, self.limit, self.traceID) = (folder, limit, traceID)
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
        end = time.advanced(by: Self.span)
        nextCheck = nil
        let name = freeName()
        let path = folder + "/" + name
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
        recorder = nil
        name = nil
    }

    private func report(_ error: any Error) {
        StandardError.line("\(error); the service goes on, and the next recording begins within an hour", .warning)
    }

    // MARK: Names

    /// Returns the name of a recording that begins now, such as `20261129T020000Z.jsonl.gz`.
    private func freeName() -> String {
        let start = RecordingStart.text(Int64(Date().timeIntervalSince1970 * 1e6)).prefix(19)
        let stem = start.filter { $0 != "-" && $0 != ":" } + "Z"
        let names = Set(DiskFolder.names(in: folder))
        let free = (1...).lazy.map { $0 == 1 ? "\(stem).jsonl.gz" : "\(stem)-\($0).jsonl.gz" }
        return free.first { !names.contains($0) } ?? "\(stem).jsonl.gz"
    }

    /// Returns whether a file has the name of a recording of a service.
    static func isRecording(_ name: String) -> Bool { name.wholeMatch(of: #/\d{8}T\d{6}Z(-\d+)?\.jsonl\.gz/#) != nil }

    // MARK: Size

    /// Deletes the oldest recordings, and ends the current one if it alone exceeds the limit.
    private func prune(at time: ContinuousClock.Instant) {
        nextCheck = time.advanced(by: Self.checkInterval)
        let files = DiskFolder.names(in: folder).filter(Self.isRecording).map { name in
            var status = stat()
            return File(name: name, bytes: lstat(folder + "/" + name, &status) == 0 ? Int(status.st_size) : 0)
        }
        let latest = name ?? files.last?.name
        for name in Self.surplus(of: files, limit: limit, latest: latest) { unlink(folder + "/" + name) }
        guard let name, let current = files.first(where: { $0.name == name }), current.bytes > limit else { return }
        StandardError.line(
            "\(folder)/\(name) exceeds --record-limit and ends; the next recording begins within an hour", .warning)
        finish()
    }

    /// Returns the recordings to delete, the oldest first.
    ///
    /// - Parameters:
    ///   - files: the recordings, in the order of their names.
    ///   - latest: the recording that is being written, or the last one, which stays.
    static func surplus(of files: [File], limit: Int, latest: String?) -> [String] {
        var rest = files.reduce(0) { $0 + $1.bytes }
        var surplus: [String] = []
        for file in files where file.name != latest {
            guard rest > limit else { break }
            rest -= file.bytes
            surplus.append(file.name)
        }
        return surplus
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
