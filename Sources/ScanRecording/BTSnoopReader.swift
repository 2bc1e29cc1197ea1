import BeaconScanning
import IndoorVocabulary
import Synchronization

/// A reader of the advertisements in a Bluetooth capture (btsnoop) that `btmon -w` or Wireshark wrote.
///
/// It reads datalinks 1001 (H1), 1002 (H4) and 2001 (Linux monitor), plain or compressed with gzip, in constant
/// memory. It reassembles fragmented advertisements. For an anonymous advertisement that contains a beacon, it returns
/// the sighting, without an address. It skips packets of other kinds. An instant is the time since the capture's first
/// record of any kind.
package struct BTSnoopReader: ~Copyable {
    /// The counts of records read, records skipped and advertisements dropped so far.
    package struct Tally: Hashable, Sendable {
        /// The number of records read, of any kind.
        package var records = 0
        /// The number of invalid records skipped; always 0 when strict.
        package var skippedRecords = 0
        /// The number of advertisements dropped because their RSSI is not a measurement.
        package var droppedNotMeasurements = 0
        /// The number of anonymous advertisements that contain no beacon.
        package var droppedAnonymous = 0
        /// The number of advertisements returned although the end of their data is missing.
        package var truncatedAdvertisements = 0
        /// The number of advertisements dropped because their last fragment is missing.
        package var unfinishedAdvertisements = 0
        /// The number of scan responses among the readings returned.
        package var scanResponses = 0
        /// The number of packets that the capturing program reports as lost.
        package var lostPackets = 0
        /// The adapters that received advertisements, including those that were not requested.
        ///
        /// Only the Linux monitor distinguishes adapters; in other captures the only adapter is 0.
        package var adapters: Set<UInt16> = []
        /// The errors of the first invalid records, at most `maximumErrors`.
        package var errors: [BTSnoopError] = []

        /// The maximum number of errors kept.
        package static let maximumErrors = 10

        /// Creates a tally with all counts at zero.
        package init() {}
    }

    /// The path of the file.
    package let path: String
    /// The adapter whose advertisements are read; nil reads those of all adapters.
    package let adapter: UInt16?
    /// The treatment of invalid records.
    ///
    /// Even when lenient, a record or compressed data that are cut off, or an impossible length, end the capture.
    /// Advertising events that are not in the order of time are skipped as `RecordingReader` skips lines.
    package let strictness: RecordingReader.Strictness
    /// The counts of records read, records skipped and advertisements dropped so far.
    package var tally: Tally { decoder.tally }
    /// The packet layout; nil before the first reading is requested.
    package var datalink: BTSnoopDatalink? { decoder.datalink }
    /// The time of the capture's first record, in microseconds since 1970-01-01 UTC; nil until a record is read.
    package var startMicroseconds: Int64? { decoder.startMicroseconds }

    private let input: ArchiveInput
    private var buffer = BTSnoopBuffer()
    private var decoder: BTSnoopDecoder
    /// The order of the records when lenient.
    private var order = LenientOrder<DecodedRecord>()
    private var isFinished = false
    /// Whether the end of a compressed file is missing. The records before it are read when lenient.
    private var isCutOff = false
    /// The error that follows the readings which have not been returned yet.
    private var failure: BTSnoopError?

    /// Opens a capture. The reader reads nothing before the first call of `next()`.
    ///
    /// - Parameter adapter: the adapter whose advertisements are read; nil reads those of all adapters.
    /// - Throws: `.unreadable` if the file does not exist or cannot be read.
    package init(
        path: String, adapter: UInt16? = nil, strictness: RecordingReader.Strictness = .strict
    ) throws(BTSnoopError) {
        do throws(ArchiveFailure) {
            self.init(path: path, adapter: adapter, strictness: strictness, input: try ArchiveInput(path: path))
        } catch {
            throw BTSnoopError(file: path, problem: .unreadable(error.reason))
        }
    }

    /// Creates a reader of a file that is already open.
    init(path: String, adapter: UInt16?, strictness: RecordingReader.Strictness, input: ArchiveInput) {
        self.path = path
        self.strictness = strictness
        self.adapter = adapter
        decoder = BTSnoopDecoder(adapter: adapter, strictness: strictness)
        self.input = input
    }

    /// Returns whether a file begins with the identification of a capture; false if the file can't be read.
    ///
    /// The bytes that this function reads from a pipe are lost to a later reader.
    package static func isCapture(path: String) -> Bool {
        guard let input = try? ArchiveInput(path: path) else { return false }
        return (try? input.begins(with: BTSnoopRecord.identification)) ?? false
    }

    /// Returns the next advertisement, or the sighting of an anonymous one; nil at the end and after an error.
    ///
    /// - Throws: `BTSnoopError` if the file or, when strict, a record is invalid.
    package mutating func next() throws(BTSnoopError) -> SensorReading? {
        while true {
            if let reading = nextReading() { return reading }
            if let failure = failure.take() { throw failure }
            guard !isFinished else { return nil }
            do throws(BTSnoopError.Problem) {
                if let problem = decoder.consumeProblem() { throw problem }
                try step()
            } catch {
                try handle(error)
            }
        }
    }

    /// Returns all remaining readings. Memory use grows with the capture.
    ///
    /// - Throws: `BTSnoopError` if the file or, when strict, a record is invalid.
    package mutating func readAll() throws(BTSnoopError) -> [SensorReading] {
        var readings: [SensorReading] = []
        while let reading = try next() { readings.append(reading) }
        return readings
    }

    /// Returns the next reading of the pieces so far.
    private mutating func nextReading() -> SensorReading? {
        while true {
            if let reading = decoder.next() { return reading }
            switch order.next() {
            case .inOrder(let record)?: decoder.accept(record)
            case .outOfOrder(let record, let from, let to)?:
                // An invalid record was counted before.
                guard !record.isInvalid else { continue }
                let problem = BTSnoopError.Problem.timeWentBackwards(from: from.seconds, to: to.seconds)
                decoder.skip(BTSnoopError(file: path, offset: record.offset, problem: problem))
            case nil: return nil
            }
        }
    }

    /// Processes the next piece of the file.
    private mutating func step() throws(BTSnoopError.Problem) {
        switch try buffer.next() {
        case .header(let datalink):
            decoder.begin(datalink)
        case .record(let record):
            let bytes = buffer.bytes
            decoder.decode(record, of: bytes.span)
            guard strictness == .lenient, let (decoded, instant) = decoder.take(at: buffer.offset) else { return }
            order.add(decoded, at: instant, size: BTSnoopRecord.headLength + record.data.count)
        case .needsMore:
            do throws(ArchiveFailure) {
                try buffer.fill { (bytes) throws(ArchiveFailure) in try input.read(into: &bytes) }
            } catch {
                isCutOff = error.isCutOff
                throw .unreadable(error.reason)
            }
        case .end:
            finish()
        }
    }

    private mutating func finish() {
        isFinished = true
        decoder.finish()
        _ = order.finish()
    }

    /// Throws the problem, or counts it if the reader can continue.
    private mutating func handle(_ problem: BTSnoopError.Problem) throws(BTSnoopError) {
        // An error in the header concerns the whole file.
        let error = BTSnoopError(file: path, offset: decoder.datalink == nil ? nil : buffer.offset, problem: problem)
        if strictness == .strict || decoder.datalink == nil {
            isFinished = true
            throw error
        }
        switch problem {
        case .unreadable where !isCutOff:
            finish()
            failure = error
        case .unreadable, .cutOff, .recordTooLong:
            decoder.skip(error)
            finish()
        default:
            decoder.skip(error)
        }
    }
}

// Not Sendable: the reader owns an open file, which one task reads at a time.
@available(*, unavailable)
extension BTSnoopReader: Sendable {}

/// The packet layout of a Bluetooth capture.
package enum BTSnoopDatalink: UInt32, Hashable, Sendable, CaseIterable {
    /// HCI packets without a type byte; the record's flags contain the type (H1).
    case hci = 1001
    /// HCI packets as UART transports them, after a byte with their type (H4): Android, Wireshark, many vendors.
    case uart = 1002
    /// The packets of all adapters, as the monitor of the Linux kernel delivers them: `btmon -w`.
    case monitor = 2001

    /// The name of the layout in error messages.
    var name: String {
        switch self {
        case .hci: "H1"
        case .uart: "H4"
        case .monitor: "Linux monitor"
        }
    }

    /// Returns the adapter and the byte range of the HCI event in a record; nil if the record holds no event.
    func event(in record: BTSnoopRecord, of bytes: Span<UInt8>) -> (adapter: UInt16, range: Range<Int>)? {
        switch self {
        case .hci:
            return record.flags & 3 == Layout.receivedEvent ? (0, record.data) : nil
        case .uart:
            guard !record.data.isEmpty, bytes[record.data.lowerBound] == Layout.uartEvent else { return nil }
            return (0, record.data.dropFirst())
        case .monitor:
            guard record.flags & 0xFFFF == Layout.monitorEvent else { return nil }
            return (UInt16(record.flags >> 16), record.data)
        }
    }

    /// Returns the flags of a record that contains an event.
    func eventFlags(adapter: UInt16) -> UInt32 {
        self == .monitor ? UInt32(adapter) << 16 | Layout.monitorEvent : Layout.receivedEvent
    }

    /// The bytes that precede an event.
    var eventPrefix: [UInt8] { self == .uart ? [Layout.uartEvent] : [] }

    /// The numbers that the formats define.
    enum Layout {
        /// Bit 0: from the controller. Bit 1: a command or an event.
        static let receivedEvent: UInt32 = 3
        static let uartEvent: UInt8 = 4
        static let monitorNewIndex: UInt32 = 0
        static let monitorEvent: UInt32 = 3
    }
}

/// The head of one record of a capture, and the position of its packet in the buffer.
package struct BTSnoopRecord: Hashable, Sendable {
    /// The length of the packet in bytes before it was truncated.
    package var originalLength: Int
    /// Direction and type, or adapter and opcode, depending on the datalink.
    package var flags: UInt32
    /// The number of packets lost since the capture began.
    package var drops: UInt32
    /// The time in microseconds since the first day of the year 0.
    package var microseconds: Int64
    /// The range of the packet's bytes.
    package var data: Range<Int>

    /// The length in bytes of the file's header: identification, version, datalink.
    static let fileHeaderLength = 16
    /// The bytes with which every capture begins.
    static let identification: [UInt8] = Array("btsnoop\0".utf8)
    /// The only version of the format.
    static let version: UInt32 = 1
    /// The number of bytes before a record's packet.
    static let headLength = 24
    /// The maximum packet length in bytes. HCI packets have at most 65,539 bytes; a longer one means a damaged file.
    package static let maximumLength = 1 << 17
    /// 1970-01-01 in the format's microseconds.
    static let unixEpoch: Int64 = 0x00DC_DDB3_0F2F_8000
}

/// A buffer that splits a stream of bytes into the header and the records of a capture.
///
/// It holds one chunk and one record in memory.
///
/// Sources: Teledyne LeCroy, *BTSnoop File Format*; BlueZ, btsnoop(7); RFC 1761.
package struct BTSnoopBuffer {
    /// The next element in the buffer.
    package enum Piece: Equatable {
        /// The file's header.
        case header(BTSnoopDatalink)
        /// A record.
        case record(BTSnoopRecord)
        /// The buffer holds no complete piece: append more bytes, or end the stream.
        case needsMore
        /// The stream has ended, and the buffer is empty.
        case end
    }

    /// The bytes that the ranges of records refer to; valid until the next call of `fill`.
    package private(set) var bytes: [UInt8] = []
    /// The offset in the stream of the piece that was returned last.
    package private(set) var offset: Int64 = 0
    private var start = 0
    /// The offset in the stream of the first byte of `bytes`.
    private var base: Int64 = 0
    private var hasHeader = false
    private var isComplete = false

    /// Creates a buffer for an empty stream.
    package init() {}

    /// Appends the bytes that `read` provides; if it provides none, the stream has ended.
    package mutating func fill<Failure: Error>(_ read: (inout [UInt8]) throws(Failure) -> Void) throws(Failure) {
        bytes.removeFirst(start)
        base += Int64(start)
        start = 0
        let count = bytes.count
        try read(&bytes)
        isComplete = bytes.count == count
    }

    /// Returns the next piece, or `.needsMore` if it is incomplete.
    ///
    /// - Throws: a problem after which the stream cannot be read further.
    package mutating func next() throws(BTSnoopError.Problem) -> Piece {
        offset = base + Int64(start)
        let available = bytes.count - start
        guard hasHeader else { return try header(available) }
        if available == 0 { return isComplete ? .end : .needsMore }
        guard available >= BTSnoopRecord.headLength else { return try more(BTSnoopRecord.headLength, available) }
        let original = word(at: 0)
        let included = word(at: 4)
        guard included <= BTSnoopRecord.maximumLength else {
            throw .recordTooLong(Int(included), limit: BTSnoopRecord.maximumLength)
        }
        let length = BTSnoopRecord.headLength + Int(included)
        guard available >= length else { return try more(length, available) }
        let microseconds = UInt64(word(at: 16)) << 32 | UInt64(word(at: 20))
        let record = BTSnoopRecord(
            originalLength: Int(original), flags: word(at: 8), drops: word(at: 12),
            microseconds: Int64(bitPattern: microseconds),
            data: (start + BTSnoopRecord.headLength)..<(start + length))
        start += length
        return .record(record)
    }

    private mutating func header(_ available: Int) throws(BTSnoopError.Problem) -> Piece {
        let identification = BTSnoopRecord.identification
        guard bytes.starts(with: identification.prefix(available)) else { throw .notACapture }
        guard available >= BTSnoopRecord.fileHeaderLength else {
            if isComplete, available < identification.count { throw .notACapture }
            return try more(BTSnoopRecord.fileHeaderLength, available)
        }
        guard word(at: 8) == BTSnoopRecord.version else { throw .unsupportedVersion(word(at: 8)) }
        guard let datalink = BTSnoopDatalink(rawValue: word(at: 12)) else {
            throw .unsupportedDatalink(word(at: 12))
        }
        hasHeader = true
        start += BTSnoopRecord.fileHeaderLength
        return .header(datalink)
    }

    private func more(_ expected: Int, _ found: Int) throws(BTSnoopError.Problem) -> Piece {
        guard isComplete else { return .needsMore }
        throw .cutOff(expected: expected, found: found)
    }

    /// Returns four bytes of the piece as a big-endian number.
    private func word(at offset: Int) -> UInt32 {
        var value: UInt32 = 0
        for index in 0..<4 { value = value << 8 | UInt32(bytes[start + offset + index]) }
        return value
    }
}

/// What a record contains, until the records after it show whether it is in the order of time.
struct DecodedRecord {
    /// What the tally counts of the reports in a record.
    struct Counts {
        var notMeasurements = 0
        var anonymous = 0
        var truncated = 0
        var scanResponses = 0
    }

    /// The offset of the record in the file.
    let offset: Int64
    let readings: [SensorReading]
    let counts: Counts
    /// Whether the record has a problem besides its time.
    let isInvalid: Bool
}

/// A decoder that turns the records of a capture into readings.
///
/// When lenient, it doesn't check the order of time: the reader takes the content of each record, and gives back what is
/// in order. Fragments are joined before, because a wrong clock doesn't change the order in which they were received.
package struct BTSnoopDecoder {
    /// The counts of records and readings so far.
    package private(set) var tally = BTSnoopReader.Tally()
    /// The packet layout; nil before the header.
    package private(set) var datalink: BTSnoopDatalink?

    private let adapter: UInt16?
    private let strictness: RecordingReader.Strictness
    /// One reassembler for each adapter, because two adapters can receive the same advertiser.
    private var reassemblers: [UInt16: AdvertisingReassembler] = [:]
    private var first: Int64?
    private var latest = Instant.zero
    /// The instant of the latest record; nil unless it is the first one, or has a report of the adapter.
    private var instant: Instant?
    /// The readings of the latest record; those before index `given` have been returned.
    private var readings: [SensorReading] = []
    private var given = 0
    /// The counts of the latest record.
    private var counts = DecodedRecord.Counts()
    private var problem: BTSnoopError.Problem?

    /// Creates a decoder that expects the header.
    ///
    /// - Parameters:
    ///   - adapter: the adapter whose advertisements are decoded; nil decodes those of all adapters.
    ///   - strictness: whether a record that is earlier than the one before it is a problem.
    package init(adapter: UInt16? = nil, strictness: RecordingReader.Strictness = .strict) {
        self.adapter = adapter
        self.strictness = strictness
    }

    /// The time of the first record, in microseconds since 1970-01-01 UTC.
    package var startMicroseconds: Int64? { first.map { $0.subtractingReportingOverflow(BTSnoopRecord.unixEpoch).0 } }

    /// Sets the packet layout that the header states.
    package mutating func begin(_ datalink: BTSnoopDatalink) { self.datalink = datalink }

    /// Returns the next reading of the records so far.
    package mutating func next() -> SensorReading? {
        guard given < readings.count else { return nil }
        given += 1
        return readings[given - 1]
    }

    /// Returns and clears the problem of the latest record. The readings before it are valid.
    package mutating func consumeProblem() -> BTSnoopError.Problem? { problem.take() }

    /// Decodes a record. All readings of the record before it must have been returned.
    package mutating func decode(_ record: BTSnoopRecord, of bytes: Span<UInt8>) {
        readings.removeAll(keepingCapacity: true)
        given = 0
        counts = DecodedRecord.Counts()
        instant = nil
        tally.records += 1
        if record.drops > tally.lostPackets {
            tally.lostPackets = Int(record.drops)
            // After lost packets, the next packet may not continue the stored fragments.
            forgetFragments()
        }
        if first == nil {
            first = record.microseconds
            instant = .zero
        }
        decodeEvent(in: record, of: bytes)
        if strictness == .strict { count(counts) }
    }

    /// Returns and clears the content of the latest record, and its instant; nil if that doesn't matter.
    mutating func take(at offset: Int64) -> (DecodedRecord, Instant)? {
        guard let instant else { return nil }
        let record = DecodedRecord(offset: offset, readings: readings, counts: counts, isInvalid: problem != nil)
        readings = []
        return (record, instant)
    }

    /// Counts the content of a record that is in the order of time; `next()` returns its readings.
    mutating func accept(_ record: DecodedRecord) {
        readings = record.readings
        given = 0
        count(record.counts)
    }

    private mutating func count(_ counts: DecodedRecord.Counts) {
        tally.droppedNotMeasurements += counts.notMeasurements
        tally.droppedAnonymous += counts.anonymous
        tally.truncatedAdvertisements += counts.truncated
        tally.scanResponses += counts.scanResponses
    }

    private mutating func decodeEvent(in record: BTSnoopRecord, of bytes: Span<UInt8>) {
        do throws(BTSnoopError.Problem) {
            guard record.data.count <= record.originalLength else {
                throw .moreThanOriginal(included: record.data.count, original: record.originalLength)
            }
            guard let (adapter, event) = datalink?.event(in: record, of: bytes) else { return }
            try decode(bytes.extracting(event), of: adapter, at: record.microseconds)
        } catch {
            problem = error
        }
    }

    /// Counts an invalid record.
    package mutating func skip(_ error: BTSnoopError) {
        tally.skippedRecords += 1
        tally.errors.insert(error, by: { $0.offset ?? 0 }, atMost: BTSnoopReader.Tally.maximumErrors)
    }

    /// Discards the advertisements that are still incomplete at the end of the capture.
    package mutating func finish() { forgetFragments() }

    private mutating func forgetFragments() {
        for (_, reassembler) in reassemblers { tally.unfinishedAdvertisements += reassembler.pending }
        reassemblers.removeAll()
    }

    private mutating func decode(
        _ event: Span<UInt8>, of adapter: UInt16, at microseconds: Int64
    ) throws(BTSnoopError.Problem) {
        var reports = AdvertisingReportIterator()
        var instant: Instant?
        do throws(AdvertisingReportError) {
            while let report = try reports.next(in: event) {
                tally.adapters.insert(adapter)
                guard self.adapter == nil || self.adapter == adapter else { continue }
                if instant == nil {
                    switch passTime(to: microseconds) {
                    case .success(let passed):
                        instant = passed
                        self.instant = passed
                    case .failure(let late):
                        problem = late
                        return
                    }
                }
                handle(report, of: event, from: adapter, at: instant ?? latest)
            }
        } catch {
            throw .malformedEvent(error)
        }
    }

    private mutating func handle(
        _ report: AdvertisingReport, of event: Span<UInt8>, from adapter: UInt16, at instant: Instant
    ) {
        let before = reassemblers[adapter]?.abandoned ?? 0
        let whole = reassemblers[adapter, default: AdvertisingReassembler()].add(report, of: event)
        tally.unfinishedAdvertisements += (reassemblers[adapter]?.abandoned ?? 0) - before
        guard let whole else { return }
        guard let reading = whole.reading(at: instant) else {
            if report.hasMeasurement {
                counts.anonymous += 1
            } else {
                counts.notMeasurements += 1
            }
            return
        }
        if whole.isTruncated { counts.truncated += 1 }
        if report.properties.contains(.scanResponse) { counts.scanResponses += 1 }
        readings.append(reading)
    }

    /// Advances the time to that of a record, which when strict must not be earlier than the record before it.
    private mutating func passTime(to microseconds: Int64) -> Result<Instant, BTSnoopError.Problem> {
        let (elapsed, isBeyond) = microseconds.subtractingReportingOverflow(first ?? microseconds)
        let (nanoseconds, isFar) = elapsed.multipliedReportingOverflow(by: 1000)
        guard !isBeyond, !isFar else { return .failure(.timeOutOfRange) }
        let instant = Instant(nanoseconds: nanoseconds)
        guard strictness == .lenient || instant >= latest else {
            return .failure(.timeWentBackwards(from: latest.seconds, to: instant.seconds))
        }
        latest = instant
        return .success(instant)
    }
}

/// A Bluetooth capture (btsnoop) as a scan source. Its instants are the time since the capture's first record.
///
/// The source reads records on demand, so memory use is constant for any length. It emits the sighting of an
/// advertisement that contains a beacon directly after that advertisement.
public struct BTSnoopSource: ScanSource {
    /// The path of the file.
    package let path: String
    /// The adapter whose advertisements are read; nil reads those of all adapters.
    package let adapter: UInt16?
    /// The treatment of invalid records.
    package let strictness: RecordingReader.Strictness
    /// The time at which the capture began, once a stream has read it.
    let start = FoundStart()
    /// The closure that is called with the tally at the end of the capture.
    let whenFinished: @Sendable (BTSnoopReader.Tally) -> Void

    /// Creates a source. Each stream opens the file when its first reading is requested.
    ///
    /// - Parameters:
    ///   - adapter: the adapter whose advertisements are read; nil reads those of all adapters.
    ///   - strictness: the treatment of invalid records.
    public init(path: String, adapter: UInt16? = nil, strictness: RecordingReader.Strictness = .strict) {
        self.init(path: path, adapter: adapter, strictness: strictness, whenFinished: { _ in })
    }

    /// Creates a source that reports what it has read.
    ///
    /// - Parameter whenFinished: called with the tally at the end of the capture, but not after an error.
    package init(
        path: String, adapter: UInt16? = nil, strictness: RecordingReader.Strictness = .strict,
        whenFinished: @escaping @Sendable (BTSnoopReader.Tally) -> Void
    ) {
        self.path = path
        self.adapter = adapter
        self.strictness = strictness
        self.whenFinished = whenFinished
    }

    /// A recorded pace: time advances with the readings of the capture.
    public var pace: ScanPace { .recorded }

    /// The wall clock of the first record; nil if the capture has no time, and before the first reading.
    public var wallClock: WallClock? { start.wallClock }

    /// Returns a stream that reads the capture from its beginning; it throws `BTSnoopError`.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        let playback = BTSnoopPlayback(of: self)
        return AsyncThrowingStream { try playback.next() }
    }
}

/// The state of one stream that reads a capture.
///
/// A class, because a stream's closure cannot own a mutable value. The lock makes it safe to send.
private final class BTSnoopPlayback: Sendable {
    private struct State: ~Copyable {
        var reader: BTSnoopReader?
        var decoder = ReadingDecoder()
        /// The sighting in the last advertisement, not returned yet.
        var decoded: Sighting?
    }

    private let source: BTSnoopSource
    private let state = Mutex(State(reader: nil, decoded: nil))

    init(of source: BTSnoopSource) { self.source = source }

    /// Returns the next reading; nil at the end. The first call opens the file.
    func next() throws(BTSnoopError) -> SensorReading? {
        try state.withLock { (state) throws(BTSnoopError) in
            if state.reader == nil {
                state.reader = try BTSnoopReader(
                    path: source.path, adapter: source.adapter, strictness: source.strictness)
            }
            if let sighting = state.decoded.take() { return .sighting(sighting) }
            guard let reading = try state.reader?.next() else {
                if let tally = state.reader?.tally { source.whenFinished(tally) }
                return nil
            }
            if source.start.wallClock == nil, let begun = state.reader?.startMicroseconds {
                source.start.note(WallClock(startMicroseconds: begun))
            }
            state.decoded = state.decoder.decode(reading).sightingInAdvertisement
            return reading
        }
    }
}
