import IndoorVocabulary
import TextFormats

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
        self.init(path: path, output: try Self.create(path, header))
    }

    /// Writes to an open file and leaves it open.
    ///
    /// Errors show the path as the file's name. The path also decides whether the output is compressed.
    package init(path: String, header: RecordingHeader, descriptor: Int32) throws(RecordingError) {
        self.init(path: path, output: try Self.create(path, header, descriptor))
    }

    /// Continues at the end of a recording whose last instant is known.
    ///
    /// The writer starts at the current position of the open file.
    package init(path: String, continuing latest: Instant, descriptor: Int32) throws(RecordingError) {
        do throws(ArchiveFailure) {
            self.init(path: path, output: try ArchiveOutput(path: path, descriptor: descriptor), latest: latest)
        } catch {
            throw RecordingError(file: path, problem: .unwritable(error.reason))
        }
    }

    // The initializers that throw call this one: Swift 6.2 can't compile an initializer of a noncopyable structure that
    // throws after some properties have a value.
    private init(path: String, output: ArchiveOutput, latest: Instant? = nil) {
        self.path = path
        self.output = output
        self.latest = latest
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

/// An encoder that turns an entry into its line.
///
/// The members are in the order of the file format, and each number is as short as an exact round trip allows.
package struct RecordEncoder {
    private var bytes: [UInt8] = []

    /// Returns the line with its newline.
    ///
    /// - Throws: the field whose number is not finite; JSON cannot represent such a number.
    package static func line(for entry: RecordingEntry) throws(RecordProblem) -> [UInt8] {
        var encoder = RecordEncoder()
        encoder.bytes.reserveCapacity(160)
        switch entry {
        case .header(let header): encoder.encode(header)
        case .measurement(let measurement): try encoder.encode(measurement)
        case .truth(let truth): try encoder.encode(truth)
        }
        encoder.bytes.append(contentsOf: "}\n".utf8)
        return encoder.bytes
    }

    private mutating func encode(_ header: RecordingHeader) {
        bytes.append(contentsOf: "{\"type\":\"header\",\"format\":\"\(RecordingHeader.format)\"".utf8)
        append(.version, text: String(header.version))
        append(.startedAt, string: header.startedAt)
        append(.device, string: header.device)
        append(.venueId, text: header.venueID?.description)
        append(.name, string: header.name)
        append(.traceId, string: header.traceID?.description)
    }

    private mutating func encode(_ reading: SensorReading) throws(RecordProblem) {
        switch reading {
        case .sighting(let sighting): try encode(sighting)
        case .advertisement(let advertisement): try encode(advertisement)
        case .motion(let sample):
            begin(.motion, at: sample.instant)
            try append(.acceleration, sample.acceleration)
            try append(.rotationRate, sample.rotationRate)
            try append(.magneticField, sample.magneticField)
            try append(.attitude, numbers: sample.attitude.map { [$0.w, $0.x, $0.y, $0.z] })
        case .step(let step):
            begin(.step, at: step.instant)
            try append(.length, step.length)
            try append(.heading, step.heading)
        case .pressure(let sample):
            begin(.pressure, at: sample.instant)
            try append(.hPa, sample.hectopascals)
        case .gnss(let fix):
            begin(.gnss, at: fix.instant)
            try append(.latitude, fix.coordinate.latitude)
            try append(.longitude, fix.coordinate.longitude)
            try append(.accuracy, fix.accuracy)
            try append(.altitude, fix.altitude)
            try append(.speed, fix.speed)
            try append(.course, fix.course)
        case .fix(let fix):
            begin(.fix, at: fix.instant)
            append(.mapId, text: fix.mapID.description)
            try append(fix.point)
            try append(.radius, fix.radius)
            if fix.isSoft { append(.soft, text: "true") }
        case .range(let range):
            begin(.range, at: range.instant)
            append(.anchor, string: range.anchor)
            try append(.distance, range.distance)
            try append(.deviation, range.deviation)
            append(.technology, string: range.technology.rawValue)
        case .radio(let event):
            begin(.radio, at: event.instant)
            append(.status, string: event.status.rawValue)
            append(.adapter, string: event.adapter)
            append(.detail, string: event.detail)
        }
    }

    private mutating func encode(_ sighting: Sighting) throws(RecordProblem) {
        begin(.beacon, at: sighting.instant)
        append(.uuid, string: sighting.beacon.uuid.description)
        append(.major, text: String(sighting.beacon.major))
        append(.minor, text: String(sighting.beacon.minor))
        try append(.rssi, sighting.rssi)
        try append(.measuredPower, sighting.measuredPower)
        append(.address, string: sighting.address?.description)
        append(.addressType, string: sighting.address?.kind?.rawValue)
    }

    private mutating func encode(_ advertisement: Advertisement) throws(RecordProblem) {
        begin(.advertisement, at: advertisement.instant)
        append(.address, string: advertisement.address.description)
        append(.addressType, string: advertisement.address.kind?.rawValue)
        try append(.rssi, advertisement.rssi)
        append(.data, string: HexDigits.text(of: advertisement.data, uppercase: true))
    }

    private mutating func encode(_ truth: Truth) throws(RecordProblem) {
        begin(.truth, at: truth.instant)
        append(.mapId, text: truth.mapID?.description)
        if let point = truth.point { try append(point) }
        append(.room, string: truth.room)
        if truth.isHold { append(.hold, text: "true") }
    }

    // MARK: - Members

    private mutating func begin(_ type: RecordType, at instant: Instant) {
        bytes.append(
            contentsOf: "{\"t\":\(ShortestNumber.text(billionths: instant.nanoseconds)),\"type\":\"\(type.text)\"".utf8)
    }

    private mutating func append(_ field: RecordField) {
        bytes.append(contentsOf: ",\"\(field.text)\":".utf8)
    }

    private mutating func append(_ field: RecordField, text: String?) {
        guard let text else { return }
        append(field)
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func append(_ field: RecordField, string: String?) {
        guard let string else { return }
        append(field)
        JSONEscapes.append(string, to: &bytes, style: .digits)
    }

    private mutating func append(_ field: RecordField, _ number: Double?) throws(RecordProblem) {
        append(field, text: try number.map { (number) throws(RecordProblem) in try text(number, field) })
    }

    private mutating func append(_ field: RecordField, _ vector: Vector3?) throws(RecordProblem) {
        try append(field, numbers: vector.map { [$0.x, $0.y, $0.z] })
    }

    private mutating func append(_ point: MapPoint) throws(RecordProblem) {
        try append(.x, point.x)
        try append(.y, point.y)
    }

    private mutating func append(_ field: RecordField, numbers: [Double]?) throws(RecordProblem) {
        guard let numbers else { return }
        append(field)
        for (index, number) in numbers.enumerated() {
            bytes.append(index == 0 ? UInt8(ascii: "[") : UInt8(ascii: ","))
            bytes.append(contentsOf: try text(number, field).utf8)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private func text(_ number: Double, _ field: RecordField) throws(RecordProblem) -> String {
        guard number.isFinite else {
            throw RecordProblem(field, .outOfRange(value: number.description, allowed: "a finite number"))
        }
        return ShortestNumber.text(number)
    }
}
