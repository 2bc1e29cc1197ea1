import BeaconScanning
import IndoorVocabulary
import Synchronization
import TextFormats

/// A reader of a recording, line by line and in constant memory: `.jsonl`, plain or compressed with gzip.
///
/// The content decides whether the file is compressed. The reader skips empty lines and ignores types and fields that
/// this package doesn't know. It drops and counts a sighting whose RSSI is not a measurement (127, 0, positive).
public struct RecordingReader: ~Copyable {
    /// The treatment of invalid lines.
    public enum Strictness: Hashable, Sendable {
        /// The reader throws the error of the first invalid line, and the recording ends there.
        case strict
        /// The reader skips and counts invalid lines, and keeps the errors of the first ones.
        ///
        /// Without a valid header it reads nothing. Of lines that are not in the order of time, it skips those that
        /// don't fit the ones around them. An entry is therefore returned after the next one is read, and one that
        /// follows a leap in time of more than 10 s after the entries of the next 10 s.
        case lenient
    }

    /// The counts of lines read, lines skipped and sightings dropped so far.
    public struct Tally: Hashable, Sendable {
        /// The number of lines read, of any kind.
        public var lines = 0
        /// The number of invalid lines skipped; always 0 when strict.
        public var skippedLines = 0
        /// The number of sightings and advertisements dropped because their RSSI is not a measurement.
        public var droppedNotMeasurements = 0
        /// The number of lines with a type that this package doesn't know.
        public var unknownTypes = 0
        /// The errors of the first invalid lines, at most `maximumErrors`.
        public var errors: [RecordingError] = []

        /// The maximum number of errors kept.
        package static let maximumErrors = 10

        /// Creates a tally with all counts at zero.
        package init() {}
    }

    /// The path of the file.
    package let path: String
    /// The treatment of invalid lines.
    package let strictness: Strictness
    /// The counts of lines read, lines skipped and sightings dropped so far.
    public private(set) var tally = Tally()
    /// The recording's header; nil until the first entry is read.
    public private(set) var header: RecordingHeader?

    private let input: ArchiveInput
    private var buffer = LineBuffer()
    private var decoder = RecordDecoder()
    /// The instant of the latest line when strict.
    private var latest: Instant?
    /// The order of the lines when lenient.
    private var order = LenientOrder<OrderedLine>()
    private var isFinished = false
    /// Whether the end of a compressed file is missing. The part before it is read when lenient.
    private var isCutOff = false
    /// The error that follows the lines which have not been returned yet.
    private var failure: RecordingError?

    /// Opens a recording. The reader reads nothing before the first call of `next()`.
    ///
    /// - Throws: `.unreadable` if the file does not exist or cannot be read.
    public init(path: String, strictness: Strictness = .strict) throws(RecordingError) {
        do throws(ArchiveFailure) {
            self.init(path: path, strictness: strictness, input: try ArchiveInput(path: path))
        } catch {
            throw RecordingError(file: path, problem: .unreadable(error.reason))
        }
    }

    /// Creates a reader of a file that is already open.
    init(path: String, strictness: Strictness, input: ArchiveInput) {
        self.path = path
        self.strictness = strictness
        self.input = input
    }

    /// Returns the next entry, the header first; nil after the last one and after an error.
    ///
    /// - Throws: `RecordingError` if the file or, when strict, a line is invalid.
    public mutating func next() throws(RecordingError) -> RecordingEntry? {
        guard !isFinished else { return nil }
        do throws(RecordingError) {
            while true {
                while let finding = order.next() {
                    if let entry = entry(of: finding) { return entry }
                }
                if let failure { throw failure }
                do throws(RecordingError) {
                    if let line = try nextLine() {
                        if let entry = try entry(of: line) { return entry }
                    } else {
                        guard header != nil else { throw error(.empty, line: nil) }
                        guard order.finish() else { break }
                    }
                } catch {
                    _ = order.finish()
                    failure = error
                }
            }
            isFinished = true
            return nil
        } catch {
            isFinished = true
            throw error
        }
    }

    /// Calls `body` with each remaining entry.
    ///
    /// - Throws: `RecordingError` if the file or, when strict, a line is invalid.
    public mutating func forEach(_ body: (RecordingEntry) -> Void) throws(RecordingError) {
        while let entry = try next() { body(entry) }
    }

    /// Returns all remaining entries. Memory use grows with the recording.
    ///
    /// - Throws: `RecordingError` if the file or, when strict, a line is invalid.
    public mutating func readAll() throws(RecordingError) -> [RecordingEntry] {
        var entries: [RecordingEntry] = []
        while let entry = try next() { entries.append(entry) }
        return entries
    }

    // MARK: - Lines

    /// Returns and counts the next line that is not empty; nil at the end of the file.
    private mutating func nextLine() throws(RecordingError) -> LineBuffer.Piece? {
        while true {
            let piece = buffer.next()
            switch piece {
            case .needsMore:
                try fill()
            case .end:
                return nil
            case .tooLong:
                tally.lines += 1
                return piece
            case .line(let range):
                tally.lines += 1
                if !buffer.isBlank(range) { return piece }
            }
        }
    }

    private mutating func fill() throws(RecordingError) {
        do throws(ArchiveFailure) {
            guard !isCutOff else { return buffer.fill { _ in } }
            try buffer.fill { (bytes) throws(ArchiveFailure) in try input.read(into: &bytes) }
        } catch {
            let located = self.error(.unreadable(error.reason), line: tally.lines + 1)
            guard strictness == .lenient, header != nil, error.isCutOff else { throw located }
            isCutOff = true
            skip(located)
        }
    }

    private mutating func skip(_ error: RecordingError) {
        tally.skippedLines += 1
        tally.errors.insert(error, by: { $0.line ?? 0 }, atMost: Tally.maximumErrors)
    }

    /// Returns the entry in the line; nil if the line is skipped, or if the lines after it decide about it.
    private mutating func entry(of piece: LineBuffer.Piece) throws(RecordingError) -> RecordingEntry? {
        do throws(RecordProblem) {
            let decoded = try decode(piece)
            let size = if case .line(let range) = piece { range.count } else { 0 }
            guard header != nil else { return try begin(with: decoded) }
            switch decoded {
            case .unknownType:
                tally.unknownTypes += 1
                return nil
            case .notAMeasurement(let instant): return try pass(nil, at: instant, size: size)
            case .entry(let entry):
                guard let instant = entry.instant else { throw RecordProblem(.type, .repeatedHeader) }
                return try pass(entry, at: instant, size: size)
            }
        } catch {
            let located = self.error(error.problem, line: tally.lines, field: error.field)
            guard strictness == .lenient, header != nil else { throw located }
            skip(located)
            return nil
        }
    }

    private mutating func decode(_ piece: LineBuffer.Piece) throws(RecordProblem) -> DecodedLine {
        guard case .line(let range) = piece else {
            throw RecordProblem(nil, .lineTooLong(limit: LineBuffer.maximumLineLength))
        }
        let bytes = buffer.bytes
        return try decoder.decode(bytes.span.extracting(range))
    }

    private mutating func begin(with decoded: DecodedLine) throws(RecordProblem) -> RecordingEntry {
        guard case .entry(.header(let header)) = decoded else { throw RecordProblem(nil, .notARecording) }
        self.header = header
        return .header(header)
    }

    /// Advances the time to an instant, which must not be earlier than that of the line before; returns the entry. A
    /// lenient reader waits for the lines after it.
    ///
    /// - Parameters:
    ///   - entry: nil if the RSSI is not a measurement.
    ///   - size: the bytes of its line.
    private mutating func pass(
        _ entry: RecordingEntry?, at instant: Instant, size: Int
    ) throws(RecordProblem) -> RecordingEntry? {
        guard strictness == .strict else {
            order.add(OrderedLine(number: tally.lines, entry: entry), at: instant, size: size)
            return nil
        }
        if let latest, instant < latest {
            throw RecordProblem(.t, .timeWentBackwards(from: latest.seconds, to: instant.seconds))
        }
        latest = instant
        return accepted(entry)
    }

    /// Returns the entry that the lines after it decided about; nil if its line is skipped or has no measurement.
    private mutating func entry(of finding: LenientOrder<OrderedLine>.Finding) -> RecordingEntry? {
        switch finding {
        case .inOrder(let line): return accepted(line.entry)
        case .outOfOrder(let line, let from, let to):
            skip(error(.timeWentBackwards(from: from.seconds, to: to.seconds), line: line.number, field: .t))
            return nil
        }
    }

    private mutating func accepted(_ entry: RecordingEntry?) -> RecordingEntry? {
        if entry == nil { tally.droppedNotMeasurements += 1 }
        return entry
    }

    private func error(
        _ problem: RecordingError.Problem, line: Int?, field: RecordField? = nil
    ) -> RecordingError {
        RecordingError(file: path, line: line, field: field?.text, problem: problem)
    }
}

/// A valid line of a recording, until the lines after it show whether it is in the order of time.
private struct OrderedLine {
    let number: Int
    /// Nil if the RSSI is not a measurement.
    let entry: RecordingEntry?
}

// Not Sendable: the reader owns an open file, which one task reads at a time.
@available(*, unavailable)
extension RecordingReader: Sendable {}

/// A buffer that splits a stream of bytes into lines, and holds at most one chunk and one line in memory.
///
/// It skips a byte order mark at the beginning of the stream.
package struct LineBuffer {
    /// The maximum number of bytes in a line. Longer lines are skipped and not stored.
    package static let maximumLineLength = 1 << 20

    /// The next element in the buffer.
    package enum Piece: Equatable {
        /// A line without its newline, at these offsets of `bytes`.
        case line(Range<Int>)
        /// A line that is longer than the limit; reported once, before its end.
        case tooLong
        /// The buffer holds no complete line: append more bytes, or end the stream.
        case needsMore
        /// The stream has ended, and the buffer is empty.
        case end
    }

    /// The bytes that the ranges of lines refer to; valid until the next append.
    package private(set) var bytes: [UInt8] = []
    private var start = 0
    /// The offset up to which there is no newline.
    private var searched = 0
    private var isSkipping = false
    /// Whether the first line, which may begin with a byte order mark, has not been found yet.
    private var isAtStart = true
    private var isComplete = false

    /// Creates a buffer for an empty stream.
    package init() {}

    /// Appends the bytes that `read` provides; if it provides none, the stream has ended.
    package mutating func fill<Failure: Error>(_ read: (inout [UInt8]) throws(Failure) -> Void) throws(Failure) {
        bytes.removeFirst(start)
        searched -= start
        start = 0
        let count = bytes.count
        try read(&bytes)
        isComplete = bytes.count == count
    }

    /// Returns the next line, or `.needsMore` if it is incomplete. The last line needs no newline.
    package mutating func next() -> Piece {
        if let newline = findNewline() {
            let line = lineStart(before: newline)..<newline
            start = newline + 1
            searched = start
            if isSkipping {
                isSkipping = false
                return next()
            }
            return line.count > Self.maximumLineLength ? .tooLong : .line(line)
        }
        if isComplete {
            guard start < bytes.count, !isSkipping else { return .end }
            let line = lineStart(before: bytes.count)..<bytes.count
            start = bytes.count
            searched = start
            return line.count > Self.maximumLineLength ? .tooLong : .line(line)
        }
        if isSkipping {
            start = bytes.count
        } else if bytes.count - start > Self.maximumLineLength {
            isSkipping = true
            start = bytes.count
            return .tooLong
        }
        return .needsMore
    }

    /// Returns whether a line contains only white space.
    package func isBlank(_ line: Range<Int>) -> Bool {
        line.allSatisfy { bytes[$0] == 0x20 || bytes[$0] == 0x09 || bytes[$0] == 0x0D }
    }

    /// Returns the offset at which a complete line begins.
    private mutating func lineStart(before end: Int) -> Int {
        guard isAtStart else { return start }
        isAtStart = false
        return start + ByteOrderMark.length(in: bytes[start..<end])
    }

    private mutating func findNewline() -> Int? {
        let found = Self.newline(in: bytes.span, from: searched)
        searched = found ?? bytes.count
        return found
    }

    private static func newline(in bytes: Span<UInt8>, from start: Int) -> Int? {
        var offset = start
        while offset < bytes.count {
            if bytes[offset] == UInt8(ascii: "\n") { return offset }
            offset += 1
        }
        return nil
    }
}

/// A recording as a scan source. It never emits the ground truth in the file.
///
/// The source reads lines on demand, so memory use is constant for any length. It emits the sighting of an
/// advertisement that contains a beacon directly after that advertisement. If the recording contains both, the source
/// emits the sighting only once.
public struct RecordingSource: ScanSource {
    /// The path of the file.
    package let path: String
    /// The treatment of invalid lines.
    package let strictness: RecordingReader.Strictness
    /// The time at which the recording began, once a stream has read it.
    let start = FoundStart()
    /// The closure that is called with the tally at the end of the recording.
    let whenFinished: @Sendable (RecordingReader.Tally) -> Void

    /// Creates a source. Each stream opens the file when its first reading is requested.
    ///
    /// - Parameter whenFinished: called with the tally at the end of the recording, but not after an error.
    public init(
        path: String, strictness: RecordingReader.Strictness = .strict,
        whenFinished: @escaping @Sendable (RecordingReader.Tally) -> Void = { _ in }
    ) {
        self.path = path
        self.strictness = strictness
        self.whenFinished = whenFinished
    }

    /// A recorded pace: time advances with the readings of the recording.
    public var pace: ScanPace { .recorded }

    /// The wall clock from the header's `startedAt`; nil if that is missing, and before the first reading.
    public var wallClock: WallClock? { start.wallClock }

    /// Returns a stream that reads the recording from its beginning; it throws `RecordingError`.
    ///
    /// Read the stream from a task or an actor of its own, where each reading takes about a microsecond. On the main
    /// actor, each reading requires a thread switch and takes twenty times as long.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        let playback = RecordingPlayback(of: self)
        return AsyncThrowingStream { try playback.next() }
    }
}

/// The state of one stream that reads a recording.
///
/// A class, because a stream's closure cannot own a mutable value. The lock makes it safe to send.
final class RecordingPlayback: Sendable {
    private struct State: ~Copyable {
        var reader: RecordingReader?
        var decoder = ReadingDecoder()
        /// The sighting in the last advertisement, not returned yet.
        var decoded: Sighting?
    }

    private let source: RecordingSource
    private let state = Mutex(State(reader: nil, decoded: nil))

    init(of source: RecordingSource) { self.source = source }

    /// Returns the next reading; nil at the end. The first call opens the file.
    func next() throws(RecordingError) -> SensorReading? {
        try state.withLock { (state) throws(RecordingError) in
            if state.reader == nil {
                state.reader = try RecordingReader(path: source.path, strictness: source.strictness)
            }
            if let sighting = state.decoded.take() { return .sighting(sighting) }
            return try read(&state)
        }
    }

    /// Returns the next reading of the file, without a sighting that was already decoded from the line before.
    private func read(_ state: inout State) throws(RecordingError) -> SensorReading? {
        while let entry = try state.reader?.next() {
            if case .header(let header) = entry { source.start.note(header.wallClock) }
            guard case .measurement(let recorded) = entry else { continue }
            let reading = state.decoder.decode(recorded)
            state.decoded = reading.sightingInAdvertisement
            if reading.content != .rejected(.repetition) { return recorded }
        }
        if let tally = state.reader?.tally { source.whenFinished(tally) }
        return nil
    }
}
