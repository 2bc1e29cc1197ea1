import IndoorVocabulary

/// A writer of a recording: `.jsonl`, compressed with gzip if the path ends in `.gz`.
///
/// The same entries give identical output. The writer checks each line with the rules of the reader before it writes
/// it, so a written entry reads back equal. It writes only members of the documented file format, and the
/// `addressType` of a `beacon`, which other readers ignore.
public struct RecordingWriter: ~Copyable {
    /// The path of the file.
    package let path: String

    private let output: ArchiveOutput
    private var decoder = RecordDecoder()
    private var latest: Instant?
    private var lines = 1
    private var isClosed = false

    /// Creates the file, or replaces an existing one, and writes the header.
    ///
    /// Only its owner can read a new file (mode 0600), because it reveals where a person was.
    /// - Throws: `.unwritable` if the file can't be created, or the error in an invalid header.
    public init(path: String, header: RecordingHeader = RecordingHeader()) throws(RecordingError) {
        self.path = path
        output = try Self.create(path, header)
    }

    /// Writes to an open file and leaves it open.
    ///
    /// Errors show the path as the file's name. The path also decides whether the output is compressed.
    package init(path: String, header: RecordingHeader, descriptor: Int32) throws(RecordingError) {
        self.path = path
        output = try Self.create(path, header, descriptor)
    }

    /// Continues at the end of a recording whose last instant is known.
    ///
    /// The writer starts at the current position of the open file.
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

    /// Writes a sensor reading; instants must not decrease.
    ///
    /// - Throws: the field that a recording cannot represent, or `.unwritable`. The line is then not written.
    public mutating func write(_ reading: SensorReading) throws(RecordingError) {
        try append(.measurement(reading))
    }

    /// Writes the true position of the device; instants must not decrease.
    ///
    /// - Throws: the field that a recording cannot represent, or `.unwritable`. The line is then not written.
    public mutating func write(_ truth: Truth) throws(RecordingError) { try append(.truth(truth)) }

    /// Writes an entry of another recording. A header is an error, because `init` writes the only one.
    ///
    /// - Throws: the field that a recording cannot represent, or `.unwritable`. The line is then not written.
    public mutating func write(_ entry: RecordingEntry) throws(RecordingError) {
        if case .header = entry { throw RecordingError(file: path, line: lines + 1, problem: .repeatedHeader) }
        try append(entry)
    }

    /// Passes all written lines to the system. In a compressed file, only `close()` writes the last bytes.
    public mutating func flush() throws(RecordingError) {
        do throws(ArchiveFailure) { try output.flush() } catch { throw unwritable(error) }
    }

    /// Makes all written lines readable in the file, even if the program is killed later.
    ///
    /// The bytes of a compressed file then depend on when this is called.
    package mutating func checkpoint() throws(RecordingError) {
        do throws(ArchiveFailure) { try output.checkpoint() } catch { throw unwritable(error) }
    }

    /// Completes the file. The file is only guaranteed to contain the data after this function returns; a second call
    /// does nothing.
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

    /// Returns the entry's line after the reader's decoder has accepted it, so that the rules are defined in one place.
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
                throw RecordProblem(.rssi, .outOfRange(value: "not a measurement", allowed: "-127 to below 0 dBm"))
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

// Not Sendable: the writer owns an open file, which one task writes at a time.
@available(*, unavailable)
extension RecordingWriter: Sendable {}
