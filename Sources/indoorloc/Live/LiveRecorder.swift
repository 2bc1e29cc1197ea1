import Foundation
import IndoorLocalization
import ScanRecording

/// A file that holds what a radio delivers, its instants counted from the first reading.
///
/// It begins with the first reading: a radio that cannot be used leaves the file that was there.
struct LiveRecorder: ~Copyable {
    private let target: RecordTarget
    private let earlier: EarlierRecording?
    private var start: RecordingBeginning
    private var timeline = ScanTimeline()
    private var file: ConvertedOutput?
    /// What the radio told of itself before anything was heard.
    private var prologue: [SensorReading] = []
    /// No radio tells more of itself, of which the latest is of interest.
    private static let longestPrologue = 100

    /// Finds out whether the file may be written, and where it goes on; creates nothing.
    ///
    /// - Parameter wallClock: that of the source, which tells when the recording begins; nil takes the machine's.
    init(_ target: RecordTarget, wallClock: @escaping @Sendable () -> WallClock? = { nil }) throws {
        self.target = target
        start = RecordingBeginning(wallClock: wallClock)
        try target.output.check()
        earlier = try EarlierRecording(target)
    }

    /// Writes a reading.
    mutating func write(_ reading: SensorReading) throws {
        start.note(reading)
        let rebased = timeline.rebase(reading)
        guard file != nil else { return try begin(with: rebased) }
        let late = late(rebased)
        try file?.write(.measurement(late))
    }

    private mutating func begin(with reading: SensorReading) throws {
        prologue.append(reading)
        if case .radio = reading {
            if prologue.count > Self.longestPrologue { prologue.removeFirst() }
            return
        }
        // A beacon that has no place in a capture must not end the scan.
        var file =
            if let earlier {
                try ConvertedOutput(continuing: target.output, after: earlier.end, endsLine: earlier.endsLine)
            } else {
                try ConvertedOutput(
                    target.output, format: target.format, header: header,
                    startMicroseconds: start.microseconds, adapter: 0, strictness: .lenient)
            }
        for reading in prologue { try file.write(.measurement(late(reading))) }
        prologue = []
        try file.appear()
        self.file = consume file
    }

    private var header: RecordingHeader {
        var header = start.header
        header.traceID = target.traceID
        return header
    }

    /// The reading as late as it is in the recording that goes on.
    private func late(_ reading: SensorReading) -> SensorReading {
        guard let earlier else { return reading }
        var late = reading
        let pause = earlier.pause(until: start.microseconds)
        late.instant = earlier.end.advanced(by: pause + Instant.zero.duration(to: reading.instant))
        return late
    }

    /// Completes the file, and tells what could not be kept in it.
    mutating func close() throws {
        guard file != nil else {
            StandardError.line("\(target.path): not written, as nothing was heard")
            return
        }
        try file?.close()
        file?.notes.forEach(StandardError.write)
    }
}

/// A recording that is there already, and goes on.
private struct EarlierRecording {
    /// Its last instant.
    let end: Instant
    /// When it began, in microseconds since 1970 (UTC); nil if it does not tell.
    private let start: Int64?
    /// Whether its last line has an end.
    let endsLine: Bool

    /// Nil if the file is to be begun.
    ///
    /// - Throws: what is wrong with the recording, or `OutputFile.Failure` if nothing can be added to it.
    init?(_ target: RecordTarget) throws {
        guard target.output.existing == .extended, let file = FileHandle(forReadingAtPath: target.path) else {
            return nil
        }
        defer { try? file.close() }
        let length = try file.seekToEnd()
        guard length > 0 else { return nil }
        try file.seek(toOffset: length - 1)
        let isCompressed = target.path.lowercased().hasSuffix(".gz")
        endsLine = try isCompressed || file.readToEnd() == Data([10])
        try file.seek(toOffset: 0)
        guard try (file.read(upToCount: 2) == Data([0x1F, 0x8B])) == isCompressed else {
            let kind = isCompressed ? "not compressed, as its name says" : "compressed, other than its name says"
            throw OutputFile.Failure(path: target.path, reason: "is \(kind); nothing can be added to it")
        }
        var reader = try RecordingReader(path: target.path)
        var end = Instant.zero
        try reader.forEach { entry in end = entry.instant ?? end }
        self.end = end
        start = reader.header?.startedAt.flatMap(RecordingStart.microseconds)
    }

    /// The time from its end until then, in microseconds since 1970 (UTC); nothing if it does not tell when it began.
    func pause(until present: Int64) -> Duration {
        let sinceStart = start.map { Duration.microseconds(present - $0) } ?? .zero
        return max(.zero, sinceStart - Instant.zero.duration(to: end))
    }
}

/// Which file a live command is to write.
struct RecordTarget: Sendable {
    let output: OutputFile
    let format: ConvertedFormat
    /// The session that it belongs to; nil for none.
    var traceID: TraceID?

    var path: String { output.path }
}
