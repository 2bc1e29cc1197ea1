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
    /// The maximum number of radio events kept; older ones are discarded.
    private static let longestPrologue = 100
    /// The time of the file's last checkpoint.
    private var checkpoint = ContinuousClock.now
    /// The time between checkpoints, which is also the longest loss if the program is killed.
    private let checkpointInterval: Duration
    /// Whether a sensor reading was received. If the file couldn't be created, this is true without a file.
    private var hasReceived = false
    /// The ground truth of the whole recording, from its first reading; nil without one.
    private let stay: Stay?
    /// The entries of the last seconds, for marks; nil without marks.
    private var marks: MarkBuffer?
    private var order = ReadingOrder()

    /// Checks that the file may be written, and finds the end of an existing recording; creates nothing.
    ///
    /// - Parameters:
    ///   - stay: the place and the room in which the device stays.
    ///   - acceptsMarks: whether `mark(_:at:)` will be called.
    ///   - checkpointInterval: the time between checkpoints.
    ///   - wallClock: the source's wall clock, for the start time; nil uses the machine's clock.
    init(
        _ target: RecordTarget, stay: Stay? = nil, acceptsMarks: Bool = false,
        checkpointInterval: Duration = .seconds(1), wallClock: @escaping @Sendable () -> WallClock? = { nil }
    ) throws {
        try target.output.check()
        self.init(
            target, after: try EarlierRecording(target), stay: stay, marks: acceptsMarks ? MarkBuffer() : nil,
            checkpointInterval, start: RecordingBeginning(wallClock: wallClock))
    }

    private init(
        _ target: RecordTarget, after earlier: EarlierRecording?, stay: Stay?, marks: MarkBuffer?,
        _ checkpointInterval: Duration, start: RecordingBeginning
    ) {
        self.checkpointInterval = checkpointInterval
        self.target = target
        self.earlier = earlier
        self.stay = stay
        self.marks = marks
        self.start = start
    }

    /// Whether a reading of a sensor was written.
    var hasBegun: Bool { file != nil }

    /// Writes a reading.
    mutating func write(_ reading: SensorReading) throws {
        start.note(reading)
        let rebased = timeline.rebase(reading)
        guard file != nil else { return try begin(with: rebased) }
        try put(order.add(late(rebased)))
        try save()
    }

    /// Passes readings on to the marks' buffer or to the file.
    private mutating func put(_ readings: [SensorReading]) throws {
        for reading in readings {
            if marks != nil { marks?.add(reading) } else { try file?.write(.measurement(reading)) }
        }
    }

    /// Makes the latest entries readable in the file, also if the program is killed later.
    private mutating func save() throws {
        guard marks?.isFull == true || checkpoint.duration(to: .now) >= checkpointInterval else { return }
        for entry in marks?.release() ?? [] { try file?.write(entry) }
        try file?.checkpoint(followedBy: marks?.entries ?? [])
        checkpoint = .now
    }

    /// Stores that the device is at a place; returns the reason if that isn't possible.
    ///
    /// - Parameter time: the time at which the device was there.
    mutating func mark(_ place: MarkedPlace, at time: ContinuousClock.Instant = .now) -> String? {
        guard marks != nil else { return "the recording accepts no marks" }
        guard file != nil, let instant = timeline.instant(at: time) else {
            return "no reading was received yet; mark the place again later"
        }
        let truth = Truth(instant: late(instant), mapID: place.mapID, point: place.point, room: stay?.room)
        marks?.insert(truth)
        return nil
    }

    /// Removes the latest mark; returns false if no mark is recent enough.
    mutating func undoMark() -> Bool { marks?.removeLastMark() != nil }

    private mutating func begin(with reading: SensorReading) throws {
        prologue.append(reading)
        if case .radio = reading {
            if prologue.count > Self.longestPrologue { prologue.removeFirst() }
            return
        }
        hasReceived = true
        var file = try newFile()
        if let stay, let first = prologue.first { try file.write(.truth(stay.truth(at: late(first.instant)))) }
        for reading in prologue {
            for next in order.add(late(reading)) { try file.write(.measurement(next)) }
        }
        prologue = []
        try file.appear()
        checkpoint = .now
        self.file = consume file
    }

    /// Begins or continues the file. A reading that the format can't represent must not end the scan.
    private func newFile() throws -> ConvertedOutput {
        guard let earlier else { return try created(target.output, header) }
        guard let defect = earlier.defect else {
            return try ConvertedOutput(continuing: target.output, after: earlier.end, endsLine: earlier.endsLine)
        }
        // Nothing can follow an end that is cut off, so a file without it takes the place of the earlier one.
        var output = target.output
        output.existing = .replaced
        var reader = try RecordingReader(path: target.path, strictness: .lenient)
        let first = try reader.next()
        guard case .header(let kept)? = first else { throw defect }
        var copy = try created(output, kept)
        while let entry = try reader.next() { try copy.write(entry) }
        StandardError.line("\(defect.finding); the recording is continued without this end", .warning)
        return copy
    }

    private func created(_ output: OutputFile, _ header: RecordingHeader) throws -> ConvertedOutput {
        try ConvertedOutput(
            output, format: target.format, header: header, startMicroseconds: start.microseconds, adapter: 0,
            strictness: .lenient)
    }

    private var header: RecordingHeader {
        var header = start.header
        header.traceID = target.traceID
        header.device = target.device
        return header
    }

    /// The reading with its instant in the continued recording.
    private func late(_ reading: SensorReading) -> SensorReading {
        var late = reading
        late.instant = self.late(reading.instant)
        return late
    }

    /// An instant in the continued recording.
    private func late(_ instant: Instant) -> Instant {
        guard let earlier else { return instant }
        let pause = earlier.pause(until: start.microseconds)
        return earlier.end.advanced(by: pause + Instant.zero.duration(to: instant))
    }

    /// Completes the file, and reports the data that it could not store.
    mutating func close() throws {
        guard file != nil else {
            // If the file couldn't be created, another error reports this.
            if !hasReceived { StandardError.line("\(target.path): not written, as nothing was received") }
            return
        }
        try put(order.drain())
        for entry in marks?.drain() ?? [] { try file?.write(entry) }
        try file?.close()
        file?.notes.forEach(StandardError.write)
    }
}

extension LiveRecorder {
    /// The ground truth of a device that stays where it is.
    struct Stay: Hashable, Sendable {
        var place: MarkedPlace?
        var room: String?

        /// Returns nil if neither the place nor the room is known.
        init?(place: MarkedPlace?, room: String?) {
            guard place != nil || room != nil else { return nil }
            self.place = place
            self.room = room
        }

        /// The ground truth from an instant until the end of the recording.
        func truth(at instant: Instant) -> Truth {
            Truth(instant: instant, mapID: place?.mapID, point: place?.point, room: room, isHold: true)
        }
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
    /// The error at the end of a recording that is cut off, such as by a full disk; nil for a complete one.
    let defect: RecordingError?

    /// Reads the recording; returns nil if a new file is to be created.
    ///
    /// - Throws: `RecordingError` if the recording is invalid elsewhere than at an end that is cut off, or
    ///   `OutputFile.Failure` if it can't be continued.
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
        var reader = try RecordingReader(path: target.path, strictness: .lenient)
        var end = Instant.zero
        try reader.forEach { entry in end = entry.instant ?? end }
        self.end = end
        start = reader.header?.startedAt.flatMap(RecordingStart.microseconds)
        defect = reader.tally.errors.first
        guard let defect else { return }
        let isUnfinished = if case .unreadable = defect.problem { isCompressed } else { !endsLine }
        guard isUnfinished, Self.isAtEnd(reader.tally) else { throw defect }
    }

    /// Returns whether the skipped lines are the last ones.
    private static func isAtEnd(_ tally: RecordingReader.Tally) -> Bool {
        tally.errors.count == tally.skippedLines && tally.errors.allSatisfy { ($0.line ?? 0) >= tally.lines }
    }

    /// The time from the recording's end until `present`, in microseconds since 1970 (UTC); zero if its start is
    /// unknown.
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
    /// The device in the header: the tag of a recording by receivers; nil for none.
    var device: String?

    var path: String { output.path }

    /// Whether marks of the ground truth can be stored: a capture has none, and the gap before appended readings would
    /// count as time at the last mark.
    var acceptsMarks: Bool {
        if case .recording = format { output.existing != .extended } else { false }
    }
}

/// The time of a live scan, counted from its first reading.
struct ScanTimeline {
    private let clock = ContinuousClock()
    private var origin: Instant?
    private var latest: (instant: Instant, read: ContinuousClock.Instant)?

    /// Returns the reading with its instant counted from the first reading.
    mutating func rebase(_ reading: SensorReading) -> SensorReading {
        let start = origin ?? reading.instant
        origin = start
        var rebased = reading
        rebased.instant = Instant.zero.advanced(by: max(.zero, start.duration(to: reading.instant)))
        latest = (rebased.instant, clock.now)
        return rebased
    }

    /// The instant of the latest reading; zero before the first one.
    var last: Instant { latest?.instant ?? .zero }

    /// The present instant; zero before the first reading.
    var now: Instant { instant(at: clock.now) ?? .zero }

    /// Returns the instant at a time of the clock; nil before the first reading.
    func instant(at time: ContinuousClock.Instant) -> Instant? {
        guard let latest else { return nil }
        return max(.zero, latest.instant.advanced(by: latest.read.duration(to: time)))
    }
}

/// The start time of a live recording: that of its first reading, on the source's wall clock, or else on the machine's
/// clock.
struct RecordingBeginning {
    let wallClock: @Sendable () -> WallClock?
    private var begun: Int64?

    init(wallClock: @escaping @Sendable () -> WallClock?) { self.wallClock = wallClock }

    /// Stores the start time with the first reading.
    mutating func note(_ reading: SensorReading) {
        guard begun == nil else { return }
        begun = wallClock().map { $0.unixTime(at: reading.instant).milliseconds &* 1000 } ?? Self.now
    }

    /// The start time in microseconds since 1970 (UTC); before the first reading, the present time.
    var microseconds: Int64 { begun ?? Self.now }

    /// The header of the recording.
    var header: RecordingHeader { RecordingHeader(startedAt: RecordingStart.text(microseconds)) }

    private static var now: Int64 { Int64((Date().timeIntervalSince1970 * 1e6).rounded()) }
}

/// The order of the readings of a session. Satellite positions don't pass through the merger of the other sensors, where a
/// reading waits for those of other sensors, and so come before readings from before them.
///
/// A position waits for a reading of another sensor that isn't older, or for `patience`. A reading that is late all the
/// same gets the instant of the last one, as in a ``CombinedSource``.
struct ReadingOrder {
    /// The time after which no reading from before a position arrives.
    private static let patience = Duration.seconds(1)

    private var waiting: [SensorReading] = []
    private var latest = Instant.zero

    /// Adds a reading; returns those that are due, in the order of time.
    mutating func add(_ reading: SensorReading) -> [SensorReading] {
        guard case .gnss = reading else { return release(until: reading.instant) + settle([reading]) }
        waiting.append(reading)
        return release(until: reading.instant.advanced(by: .zero - Self.patience))
    }

    /// Removes and returns all readings, in the order of time.
    mutating func drain() -> [SensorReading] {
        defer { waiting = [] }
        return settle(waiting)
    }

    private mutating func release(until instant: Instant) -> [SensorReading] {
        let due = waiting.prefix { $0.instant <= instant }
        waiting.removeFirst(due.count)
        return settle(Array(due))
    }

    private mutating func settle(_ readings: [SensorReading]) -> [SensorReading] {
        readings.map { reading in
            var settled = reading
            latest = max(latest, reading.instant)
            settled.instant = latest
            return settled
        }
    }
}

/// The entries of a recording from the last seconds, into which marks are inserted in the order of time.
///
/// A key press can precede readings that arrive later, and a mark can be undone while it is in the buffer.
struct MarkBuffer {
    /// The time for which a mark can be undone.
    static let span = Duration.seconds(30)
    /// The maximum number of entries. A busy hall can exceed it in less than `span`.
    static let limit = 65_536

    /// The time after which no reading or key press from before arrives.
    static let lateness = Duration.seconds(5)

    /// The entries, in the order of time.
    private(set) var entries: [RecordingEntry] = []

    /// Whether the buffer has its maximum number of entries.
    var isFull: Bool { entries.count >= Self.limit }

    /// Adds a reading.
    mutating func add(_ reading: SensorReading) { insert(.measurement(reading), at: reading.instant) }

    /// Removes and returns the entries that no mark or undo can change any more: those before `span`, and those before
    /// the first mark and before `lateness`. A full buffer also releases its older half.
    mutating func release() -> [RecordingEntry] {
        guard let latest = entries.last?.instant else { return [] }
        let (oldest, settled) = (latest.advanced(by: .zero - Self.span), latest.advanced(by: .zero - Self.lateness))
        let firstMark = entries.firstIndex(where: Self.isMark) ?? entries.count
        var count = entries.prefix(firstMark).prefix { ($0.instant ?? .zero) < settled }.count
        if count == firstMark { count += entries[count...].prefix { ($0.instant ?? .zero) < oldest }.count }
        if isFull { count = max(count, entries.count / 2) }
        defer { entries.removeFirst(count) }
        return Array(entries.prefix(count))
    }

    /// Inserts a ground truth. One that precedes the buffer gets the instant of its first entry.
    mutating func insert(_ truth: Truth) {
        var truth = truth
        truth.instant = max(truth.instant, entries.first?.instant ?? truth.instant)
        insert(.truth(truth), at: truth.instant)
    }

    /// Removes the latest mark and returns it; nil if none is in the buffer.
    mutating func removeLastMark() -> Truth? {
        guard let place = entries.lastIndex(where: Self.isMark), case .truth(let truth) = entries.remove(at: place)
        else { return nil }
        return truth
    }

    /// Removes and returns all entries.
    mutating func drain() -> [RecordingEntry] {
        defer { entries = [] }
        return entries
    }

    private static func isMark(_ entry: RecordingEntry) -> Bool { if case .truth = entry { true } else { false } }

    private mutating func insert(_ entry: RecordingEntry, at instant: Instant) {
        let place = entries.lastIndex { ($0.instant ?? .zero) <= instant }.map { $0 + 1 } ?? 0
        entries.insert(entry, at: place)
    }
}
