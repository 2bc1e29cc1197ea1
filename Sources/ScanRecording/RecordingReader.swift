import IndoorVocabulary

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
        /// Without a valid header it reads nothing.
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
    private var latest: Instant?
    private var isFinished = false
    /// Whether the end of a compressed file is missing. The part before it is read when lenient.
    private var isCutOff = false

    /// Opens a recording. The reader reads nothing before the first call of `next()`.
    ///
    /// - Throws: `.unreadable` if the file does not exist or cannot be read.
    public init(path: String, strictness: Strictness = .strict) throws(RecordingError) {
        self.path = path
        self.strictness = strictness
        do throws(ArchiveFailure) {
            input = try ArchiveInput(path: path)
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
            while let line = try nextLine() {
                if let entry = try entry(of: line) { return entry }
            }
            guard header != nil else { throw error(.empty, line: nil) }
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
        if tally.errors.count < Tally.maximumErrors { tally.errors.append(error) }
    }

    /// Returns the entry in the line; nil if the line is skipped.
    private mutating func entry(of piece: LineBuffer.Piece) throws(RecordingError) -> RecordingEntry? {
        do throws(RecordProblem) {
            let decoded = try decode(piece)
            guard header != nil else { return try begin(with: decoded) }
            switch decoded {
            case .unknownType:
                tally.unknownTypes += 1
                return nil
            case .notAMeasurement(let instant):
                try pass(instant)
                tally.droppedNotMeasurements += 1
                return nil
            case .entry(let entry):
                guard let instant = entry.instant else { throw RecordProblem(.type, .repeatedHeader) }
                try pass(instant)
                return entry
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

    /// Advances the time to an instant, which must not be earlier than that of the line before.
    private mutating func pass(_ instant: Instant) throws(RecordProblem) {
        if let latest, instant < latest {
            throw RecordProblem(.t, .timeWentBackwards(from: latest.seconds, to: instant.seconds))
        }
        latest = instant
    }

    private func error(
        _ problem: RecordingError.Problem, line: Int?, field: RecordField? = nil
    ) -> RecordingError {
        RecordingError(file: path, line: line, field: field?.text, problem: problem)
    }
}

// Not Sendable: the reader owns an open file, which one task reads at a time.
@available(*, unavailable)
extension RecordingReader: Sendable {}
