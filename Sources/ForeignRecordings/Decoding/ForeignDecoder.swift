import IndoorVocabulary
import ScanRecording

/// A decoder of the bytes of one file to the entries of a recording.
package struct ForeignDecoder: Sendable {
    /// The next result of the decoder.
    package enum Step: Hashable, Sendable {
        /// An entry, with an instant that doesn't decrease.
        case entry(RecordingEntry)
        /// The decoder needs more bytes, or the end of the stream.
        case needsMore
        /// The file has ended.
        case end
    }

    private enum Framing: Sendable {
        case lines(LineBuffer, any RecordContent)
        case objects(ObjectBuffer, any RecordContent)
        case packets(PacketBuffer, PacketContent)
        case rows(RowBuffer, KismetRowContent)
    }

    private var framing: Framing
    /// The maximum number of readings in an array of objects, which are sorted by time.
    private let mostInArray: Int
    private var output = ForeignOutput()
    private var waiting: ReorderBuffer
    private var timeline = ForeignTimeline()
    private var line = 0
    private var latestTruth: Truth?
    private var isFinished = false
    /// Whether the decoder holds the objects of an array until the array ends.
    private var isCollecting = false
    /// The number of lines, objects or packets so far.
    package private(set) var records = 0
    /// The place of the latest line, object or packet.
    package private(set) var place: ForeignRecordingError.Place?

    /// Creates a decoder of a format.
    ///
    /// - Parameter mostInArray: the limit of the readings in an array of objects.
    package init(
        format: ForeignFormat, settings: ForeignRecordingSettings, mostInArray: Int = InputLimits.standard.entries
    ) {
        self.mostInArray = mostInArray
        waiting = ReorderBuffer(window: format.window(settings), capacity: InputLimits.standard.entries)
        timeline.truthFile = settings.truthFile
        for (time, truth) in settings.truth { waiting.add(.truth(truth), at: time, place: nil) }
        switch format {
        case .pcap: framing = .packets(PacketBuffer(), PacketContent())
        case .kismet, .bleak, .sensorLogger: framing = .objects(ObjectBuffer(), format.content(settings))
        case .csv, .mqtt, .getSensorData, .indoorLocation, .btsnooz:
            framing = .lines(LineBuffer(), format.content(settings))
        case .kismetDatabase: framing = .rows(RowBuffer(), KismetRowContent())
        }
    }

    /// The model of the receiver; nil if the file doesn't state it.
    package var device: String? { output.device }
    /// The number of elements that were left out, by their kind.
    package var ignored: [String: Int] { output.ignored }
    /// The number of readings that were dropped because their RSSI is not a measurement.
    package var notMeasurements: Int { output.notMeasurements }
    /// The names of beacons for which an identity made from the name stands in.
    package var standIns: Set<String> { output.standIns }
    /// The number of entries that were up to a second late.
    package var late: Int { timeline.late }
    /// The time of the first entry in nanoseconds since 1970; nil before the first entry, and if the times of the file
    /// don't count since 1970.
    package var start: Int64? { timeline.start?.nanoseconds }

    /// What the decoder understood of the file, a line each; empty if the format leaves nothing open.
    package var understood: [String] {
        switch framing {
        case .lines(_, let content), .objects(_, let content): content.understood
        case .packets, .rows: []
        }
    }

    /// The first columns of a table that the decoder leaves out.
    package var unread: [String] {
        if case .lines(_, let content) = framing { content.unread } else { [] }
    }

    /// Appends the next rows of a database; the first call after its last row ends them.
    package mutating func fill(from database: KismetDatabase) throws(ForeignProblem) {
        var rows: [KismetRow] = []
        while rows.count < Self.mostRows, let row = try database.next() { rows.append(row) }
        fill(rows)
    }

    /// The maximum number of rows that are appended at once.
    private static let mostRows = 64

    private mutating func fill(_ rows: [KismetRow]) {
        guard case .rows(var buffer, let content) = framing else { return }
        buffer.fill(rows)
        framing = .rows(buffer, content)
    }

    /// Appends the bytes that `read` provides; if it provides none, the stream has ended. A database has rows instead.
    package mutating func fill<Failure: Error>(
        _ read: (inout [UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        switch framing {
        case .lines(var buffer, let content):
            framing = .lines(LineBuffer(), content)
            defer { framing = .lines(buffer, content) }
            try buffer.fill(read)
        case .objects(var buffer, let content):
            framing = .objects(ObjectBuffer(), content)
            defer { framing = .objects(buffer, content) }
            try buffer.fill(read)
        case .packets(var buffer, let content):
            framing = .packets(PacketBuffer(), content)
            defer { framing = .packets(buffer, content) }
            try buffer.fill(read)
        case .rows: fill([])
        }
    }

    /// Returns the next entry, or reports that more bytes are needed.
    ///
    /// - Throws: `ForeignProblem`. The caller can continue after it unless it ends the file.
    package mutating func next() throws(ForeignProblem) -> Step {
        while true {
            while !isCollecting, let (time, entry) = output.next() { waiting.add(entry, at: time, place: place) }
            if let item = waiting.next(isAtEnd: isFinished) {
                do throws(ForeignProblem) {
                    let entry = item.entry.at(try timeline.instant(of: item.time, isGiven: item.place == nil))
                    if isRepeated(entry) { continue }
                    return .entry(entry)
                } catch {
                    place = item.place
                    throw error
                }
            }
            guard !isFinished else { return .end }
            do throws(ForeignProblem) {
                guard try read() else { return .needsMore }
            } catch {
                if error.endsFile { isFinished = true }
                throw error
            }
        }
    }

    /// Returns whether an entry repeats the ground truth before it, because each line of a table states it.
    private mutating func isRepeated(_ entry: RecordingEntry) -> Bool {
        guard case .truth(let truth) = entry else { return false }
        defer { latestTruth = truth }
        guard let latest = latestTruth, latest.mapID == truth.mapID, latest.point == truth.point,
            latest.room == truth.room
        else { return false }
        // A room alone applies until the next ground truth.
        return truth.point == nil || latest.instant == truth.instant
    }

    /// Reads the next piece of the file; returns false if more bytes are needed.
    private mutating func read() throws(ForeignProblem) -> Bool {
        switch framing {
        case .lines(var buffer, var content):
            // `framing` gets another buffer meanwhile: while the two share one, a change would copy the bytes.
            framing = .lines(LineBuffer(), content)
            defer { framing = .lines(buffer, content) }
            return try readLine(&buffer, &content)
        case .objects(var buffer, var content):
            framing = .objects(ObjectBuffer(), content)
            defer { framing = .objects(buffer, content) }
            return try readObject(&buffer, &content)
        case .packets(var buffer, var content):
            framing = .packets(PacketBuffer(), content)
            defer { framing = .packets(buffer, content) }
            return try readPacket(&buffer, &content)
        case .rows(var buffer, var content):
            framing = .rows(RowBuffer(), content)
            defer { framing = .rows(buffer, content) }
            return try readRow(&buffer, &content)
        }
    }

    private mutating func readLine(
        _ buffer: inout LineBuffer, _ content: inout any RecordContent
    ) throws(ForeignProblem) -> Bool {
        switch buffer.next() {
        case .needsMore: return false
        case .end: try finish(&content)
        case .tooLong:
            begin(line: line + 1)
            throw ForeignProblem(nil, .tooLong(limit: LineBuffer.maximumLineLength))
        case .line(let range):
            line += 1
            guard !buffer.isBlank(range) else { return true }
            begin(line: line)
            var bytes = Array(buffer.bytes[range])
            if bytes.last == 0x0D { bytes.removeLast() }
            try content.decode(bytes, into: &output)
        }
        return true
    }

    private mutating func readObject(
        _ buffer: inout ObjectBuffer, _ content: inout any RecordContent
    ) throws(ForeignProblem) -> Bool {
        let piece = buffer.next()
        switch piece {
        case .needsMore: return false
        case .end: try finish(&content)
        case .endOfArray: endArray()
        case .tooLong:
            begin(line: buffer.line)
            throw ForeignProblem(nil, .tooLong(limit: ObjectBuffer.maximumLength))
        case .stray:
            begin(line: buffer.line)
            throw ForeignProblem(nil, .malformed("expected a JSON object"))
        case .cutOff:
            begin(line: buffer.line)
            endArray()
            throw ForeignProblem(nil, .malformed("the file ends within the object"))
        case .object(let range):
            begin(line: buffer.line)
            isCollecting = buffer.isInArray
            try content.decode(Array(buffer.bytes[range]), into: &output)
            guard output.count <= mostInArray else {
                throw ForeignProblem(
                    nil, .tooMany(what: "readings in an array", limit: mostInArray), endsFile: true)
            }
        }
        return true
    }

    private mutating func readPacket(
        _ buffer: inout PacketBuffer, _ content: inout PacketContent
    ) throws(ForeignProblem) -> Bool {
        let piece: PacketBuffer.Piece
        do throws(ForeignProblem) { piece = try buffer.next() } catch {
            if case .empty = error.problem { throw error }
            place = .packet(buffer.packets + 1, offset: buffer.offset)
            throw error
        }
        switch piece {
        case .needsMore: return false
        case .end: isFinished = true
        case .packet(let record):
            records += 1
            place = .packet(record.number, offset: buffer.offset)
            try content.decode(record, of: buffer.bytes, into: &output)
        }
        return true
    }

    private mutating func readRow(
        _ buffer: inout RowBuffer, _ content: inout KismetRowContent
    ) throws(ForeignProblem) -> Bool {
        guard let row = buffer.next() else {
            guard buffer.isComplete else { return false }
            isFinished = true
            guard records > 0 else { throw ForeignProblem(nil, .empty, endsFile: true) }
            return true
        }
        records += 1
        place = .row(row.number, table: row.table)
        try content.decode(row, into: &output)
        return true
    }

    private mutating func begin(line: Int) {
        self.line = line
        records += 1
        place = .line(line)
    }

    /// Makes the readings of an array available, in the order of their times.
    private mutating func endArray() {
        if isCollecting { output.sort() }
        isCollecting = false
    }

    private mutating func finish(_ content: inout any RecordContent) throws(ForeignProblem) {
        isFinished = true
        endArray()
        guard records > 0 else { throw ForeignProblem(nil, .empty, endsFile: true) }
        try content.finish(into: &output)
    }
}

/// Rows of a database that wait to be decoded.
private struct RowBuffer: Sendable {
    private var rows: ArraySlice<KismetRow> = []
    /// Whether no more rows follow.
    private(set) var isComplete = false

    mutating func fill(_ rows: [KismetRow]) {
        isComplete = rows.isEmpty
        self.rows += rows
    }

    mutating func next() -> KismetRow? { rows.popFirst() }
}

/// The content of a format.
extension ForeignFormat {
    func content(_ settings: ForeignRecordingSettings) -> any RecordContent {
        switch self {
        case .csv: CSVContent(settings)
        case .mqtt: GatewayLogContent(settings)
        case .getSensorData: GetSensorDataContent(settings)
        case .indoorLocation: IndoorLocationContent(settings)
        case .kismet: KismetContent()
        case .bleak, .pcap, .kismetDatabase: BleakContent(settings)
        case .btsnooz: BTSnoozContent()
        case .sensorLogger: SensorLoggerContent(settings)
        }
    }

    /// The longest time by which an entry of the format may be late; nil sorts the whole file.
    fileprivate func window(_ settings: ForeignRecordingSettings) -> Duration? {
        switch self {
        case .csv, .kismetDatabase: nil
        case _ where settings.isLive || settings.arrival != nil: .zero
        // The app writes a waypoint when the user confirms it, up to 4.9 s after its time in published traces.
        case .indoorLocation: .seconds(10)
        case .pcap, .kismet, .mqtt, .getSensorData, .bleak, .sensorLogger, .btsnooz: ForeignTimeline.tolerance
        }
    }
}
