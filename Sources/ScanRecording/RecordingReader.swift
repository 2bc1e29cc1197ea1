import IndoorVocabulary

/// Reads a recording line by line, in constant memory: `.jsonl`, or the same compressed with gzip.
///
/// The content decides whether the file is compressed. Types and fields that this package doesn't know are passed over,
/// as are empty lines. A sighting whose RSSI is no measurement (127, 0, positive) is dropped and counted.
public struct RecordingReader: ~Copyable {
    /// What to do with a bad line.
    public enum Strictness: Hashable, Sendable {
        /// The first bad line is thrown, and the recording ends there.
        case strict
        /// Bad lines are skipped, counted and, the first few, kept. Without a valid header nothing is read.
        case lenient
    }

    /// What the reader passed over so far.
    public struct Tally: Hashable, Sendable {
        /// Lines that were read, of whatever kind.
        public var lines = 0
        /// Bad lines that were skipped; always 0 when strict.
        public var skippedLines = 0
        /// Sightings and advertisements that were dropped because their RSSI is no measurement.
        public var droppedNotMeasurements = 0
        /// Lines of types that this package doesn't know.
        public var unknownTypes = 0
        /// The errors of the first bad lines, at most `maximumErrors`.
        public var errors: [RecordingError] = []

        /// How many errors are kept.
        public static let maximumErrors = 10

        /// Creates a tally of nothing.
        public init() {}
    }

    /// Path of the file.
    public let path: String
    /// What to do with a bad line.
    public let strictness: Strictness
    /// What was passed over so far.
    public private(set) var tally = Tally()
    /// The recording's header; nil until the first entry was read.
    public private(set) var header: RecordingHeader?

    private let input: ArchiveInput
    private var buffer = LineBuffer()
    private var decoder = RecordDecoder()
    private var latest: Instant?
    private var isFinished = false

    /// Opens a recording; nothing is read before the first call of `next()`.
    ///
    /// - Throws: `.unreadable` if there is no such file or it may not be read.
    public init(path: String, strictness: Strictness = .strict) throws(RecordingError) {
        self.path = path
        self.strictness = strictness
        do throws(ArchiveFailure) {
            input = try ArchiveInput(path: path)
        } catch {
            throw RecordingError(file: path, problem: .unreadable(error.reason))
        }
    }

    /// Reads a file that is open already.
    init(path: String, strictness: Strictness, input: ArchiveInput) {
        self.path = path
        self.strictness = strictness
        self.input = input
    }

    /// The next entry, the header first; nil after the last one and after an error.
    ///
    /// - Throws: what is wrong with the file or, when strict, with a line.
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

    /// Hands every entry that is left to `body`.
    ///
    /// - Throws: what is wrong with the file or, when strict, with a line.
    public mutating func forEach(_ body: (RecordingEntry) -> Void) throws(RecordingError) {
        while let entry = try next() { body(entry) }
    }

    /// All entries that are left. Memory grows with the recording.
    ///
    /// - Throws: what is wrong with the file or, when strict, with a line.
    public mutating func readAll() throws(RecordingError) -> [RecordingEntry] {
        var entries: [RecordingEntry] = []
        while let entry = try next() { entries.append(entry) }
        return entries
    }

    // MARK: - Lines

    /// The next line that is not empty; counts it. Nil at the end of the file.
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
            try buffer.fill { (bytes) throws(ArchiveFailure) in try input.read(into: &bytes) }
        } catch {
            throw self.error(.unreadable(error.reason), line: tally.lines + 1)
        }
    }

    /// What the line says; nil if it is passed over.
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
            tally.skippedLines += 1
            if tally.errors.count < Tally.maximumErrors { tally.errors.append(located) }
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

    /// Time goes on to an instant that must not be before the one of the line before.
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

// Not Sendable: it owns an open file, which one task reads at a time.
@available(*, unavailable)
extension RecordingReader: Sendable {}
