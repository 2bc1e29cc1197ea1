import Foundation
import IndoorLocalization
import ScanRecording

/// A recording of live readings; instants count from the first reading.
///
/// The file is created with the first reading, so that a radio that can't be used leaves an existing file unchanged.
struct LiveRecorder: ~Copyable {
    private let target: RecordTarget
    private let earlier: EarlierRecording?
    private var start: RecordingBeginning
    private var timeline = ScanTimeline()
    private var file: ConvertedOutput?
    /// The radio events before the first sensor reading.
    private var prologue: [SensorReading] = []
    /// The most radio events kept; the latest ones matter.
    private static let longestPrologue = 100

    /// Checks that the file may be written, and finds the end of an existing recording; creates nothing.
    ///
    /// - Parameter wallClock: the source's wall clock, for the start time; nil uses the machine's clock.
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
        // A beacon that can't be written to a capture must not end the scan.
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

    /// The reading with its instant in the continued recording.
    private func late(_ reading: SensorReading) -> SensorReading {
        guard let earlier else { return reading }
        var late = reading
        let pause = earlier.pause(until: start.microseconds)
        late.instant = earlier.end.advanced(by: pause + Instant.zero.duration(to: reading.instant))
        return late
    }

    /// Completes the file, and reports what it could not store.
    mutating func close() throws {
        guard file != nil else {
            StandardError.line("\(target.path): not written, as nothing was received")
            return
        }
        try file?.close()
        file?.notes.forEach(StandardError.write)
    }
}

/// An existing recording to continue.
private struct EarlierRecording {
    /// Its last instant.
    let end: Instant
    /// The start time in microseconds since 1970 (UTC); nil if the header has none.
    private let start: Int64?
    /// Whether the last line ends with a line feed.
    let endsLine: Bool

    /// Reads the recording; returns nil if a new file is to be created.
    ///
    /// - Throws: `RecordingError` if the recording is invalid, or `OutputFile.Failure` if it can't be continued.
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
            let kind = isCompressed ? "not compressed, unlike its name says" : "compressed, unlike its name says"
            throw OutputFile.Failure(path: target.path, reason: "is \(kind); it can't be continued")
        }
        var reader = try RecordingReader(path: target.path)
        var end = Instant.zero
        try reader.forEach { entry in end = entry.instant ?? end }
        self.end = end
        start = reader.header?.startedAt.flatMap(RecordingStart.microseconds)
    }

    /// The time from the recording's end until `present`, in microseconds since 1970 (UTC); zero if its start is unknown.
    func pause(until present: Int64) -> Duration {
        let sinceStart = start.map { Duration.microseconds(present - $0) } ?? .zero
        return max(.zero, sinceStart - Instant.zero.duration(to: end))
    }
}

/// The file and format of a live recording.
struct RecordTarget: Sendable {
    let output: OutputFile
    let format: ConvertedFormat
    /// The trace identifier of its session; nil for none.
    var traceID: TraceID?

    var path: String { output.path }
}
