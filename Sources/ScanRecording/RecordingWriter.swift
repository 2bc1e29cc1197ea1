import IndoorVocabulary

/// Writes a recording: `.jsonl`, or compressed with gzip if the path ends in `.gz`.
///
/// The same entries give the same bytes, and each line is checked with the reader's own rules before it is written: what
/// was written reads back equal. Members that FORMATS doesn't know are never written, but for the `addressType` of a
/// `beacon`, which other readers pass over.
public struct RecordingWriter: ~Copyable {
    /// Path of the file.
    public let path: String

    private let output: ArchiveOutput
    private var decoder = RecordDecoder()
    private var latest: Instant?
    private var lines = 1
    private var isClosed = false

    /// Creates the file, or replaces the one that is there, and writes the header.
    ///
    /// A new file is for its owner alone to read (mode 0600), as it tells where somebody was.
    /// - Throws: `.unwritable` if the file can't be created, or what is wrong with the header.
    public init(path: String, header: RecordingHeader = RecordingHeader()) throws(RecordingError) {
        self.path = path
        output = try Self.create(path, header)
    }

    /// Writes to an open file, which stays open. The path is its name in errors, and tells whether to compress.
    package init(path: String, header: RecordingHeader, descriptor: Int32) throws(RecordingError) {
        self.path = path
        output = try Self.create(path, header, descriptor)
    }

    /// Goes on at the end of a recording whose last instant is known; the open file is written from where it stands.
    package init(path: String, continuing latest: Instant, descriptor: Int32) throws(RecordingError) {
        self.path = path
        self.latest = latest
        do throws(ArchiveFailure) {
            output = try ArchiveOutput(path: path, descriptor: descriptor)
        } catch {
            throw RecordingError(file: path, problem: .unwritable(error.reason))
        }
    }

    private static func create(
        _ path: String, _ header: RecordingHeader, _ descriptor: Int32? = nil
    ) throws(RecordingError) -> ArchiveOutput {
        var decoder = RecordDecoder()
        let line = try line(of: .header(header), after: nil, checkedBy: &decoder, file: path, number: 1)
        do throws(ArchiveFailure) {
            let output = try ArchiveOutput(path: path, descriptor: descriptor)
            try output.write(line)
            return output
        } catch {
            throw RecordingError(file: path, problem: .unwritable(error.reason))
        }
    }

    /// Writes what the device sensed; instants must not go back.
    ///
    /// - Throws: the field that has no place in a recording, or `.unwritable`. The line is then not in the file.
    public mutating func write(_ reading: SensorReading) throws(RecordingError) {
        try append(.measurement(reading))
    }

    /// Writes where the device really was; instants must not go back.
    ///
    /// - Throws: the field that has no place in a recording, or `.unwritable`. The line is then not in the file.
    public mutating func write(_ truth: Truth) throws(RecordingError) { try append(.truth(truth)) }

    /// Writes an entry of another recording, but a header, which is written when the file is created.
    ///
    /// - Throws: the field that has no place in a recording, or `.unwritable`. The line is then not in the file.
    public mutating func write(_ entry: RecordingEntry) throws(RecordingError) {
        if case .header = entry { throw RecordingError(file: path, line: lines + 1, problem: .repeatedHeader) }
        try append(entry)
    }

    /// Hands everything to the system. In a compressed file the last bytes stay back until `close()`.
    public mutating func flush() throws(RecordingError) {
        do throws(ArchiveFailure) { try output.flush() } catch { throw unwritable(error) }
    }

    /// Completes the file; only after this has returned is all of it sure to be there. A second call does nothing.
    public mutating func close() throws(RecordingError) {
        isClosed = true
        do throws(ArchiveFailure) { try output.close() } catch { throw unwritable(error) }
    }

    private mutating func append(_ entry: RecordingEntry) throws(RecordingError) {
        guard !isClosed else { throw RecordingError(file: path, problem: .unwritable("the writer is closed")) }
        let line = try Self.line(of: entry, after: latest, checkedBy: &decoder, file: path, number: lines + 1)
        do throws(ArchiveFailure) { try output.write(line) } catch { throw unwritable(error) }
        lines += 1
        latest = entry.instant
    }

    private func unwritable(_ failure: ArchiveFailure) -> RecordingError {
        RecordingError(file: path, problem: .unwritable(failure.reason))
    }

    /// The entry's line, read back by the reader's decoder so that the rules stand in one place.
    private static func line(
        of entry: RecordingEntry, after latest: Instant?, checkedBy decoder: inout RecordDecoder, file: String,
        number: Int
    ) throws(RecordingError) -> [UInt8] {
        do throws(RecordProblem) {
            let line = try RecordEncoder.line(for: entry)
            guard line.count <= LineBuffer.maximumLineLength else {
                throw RecordProblem(nil, .lineTooLong(limit: LineBuffer.maximumLineLength))
            }
            guard case .entry = try decoder.decode(line.span) else {
                throw RecordProblem(.rssi, .outOfRange(value: "no measurement", allowed: "-127 to below 0 dBm"))
            }
            if let latest, let instant = entry.instant, instant < latest {
                throw RecordProblem(.t, .timeWentBackwards(from: latest.seconds, to: instant.seconds))
            }
            return line
        } catch {
            throw RecordingError(file: file, line: number, field: error.field?.text, problem: error.problem)
        }
    }
}

// Not Sendable: it owns an open file, which one task writes at a time.
@available(*, unavailable)
extension RecordingWriter: Sendable {}
