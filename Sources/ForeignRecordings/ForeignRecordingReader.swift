import BeaconScanning
import IndoorVocabulary
import SQLiteFiles
import ScanRecording
import Synchronization

/// A reader of a recording that another program wrote, plain or compressed with gzip, in constant memory.
///
/// Times in the file that count since 1970 become instants since the first of these times, which is
/// `startMicroseconds`. Other times become instants unchanged. A time in text is ISO 8601, in UTC if neither it
/// nor the settings have a zone.
/// A number counts nanoseconds from 10^17, microseconds from 10^14, milliseconds from 10^11, and seconds below. The
/// reader sorts a table, and entries of other files that were written up to 1 s late (10 s in a trace of the Indoor
/// Location competition). An entry that is up to 1 s later still gets the previous entry's instant; any other one is an
/// error.
package struct ForeignRecordingReader: ~Copyable {
    /// The counts of what was read and left out so far.
    package struct Tally: Hashable, Sendable {
        /// The number of lines, objects or packets read, of any kind.
        package var records = 0
        /// The number of entries returned.
        package var entries = 0
        /// The number of invalid lines, objects or packets skipped; always 0 when strict.
        package var skippedRecords = 0
        /// The number of readings dropped because their RSSI is not a measurement.
        package var droppedNotMeasurements = 0
        /// The number of entries that were late by up to a second.
        package var lateEntries = 0
        /// The number of elements that the reader left out, by their kind.
        package var ignored: [String: Int] = [:]
        /// The first columns of a table that the reader left out.
        package var unreadColumns: [String] = []
        /// The names of beacons whose identity is unknown, so that one made from the name stands in for it.
        package var standIns: Set<String> = []
        /// The errors of the first invalid lines, objects or packets, at most `maximumErrors`.
        package var errors: [ForeignRecordingError] = []

        /// The maximum number of errors kept.
        package static let maximumErrors = 10

        /// Creates a tally with all counts at zero.
        package init() {}
    }

    /// The path of the file.
    package let path: String
    /// The format of the file.
    package let format: ForeignFormat
    /// The treatment of invalid lines, objects and packets.
    package let strictness: RecordingReader.Strictness

    private let input: ArchiveInput
    private var decoder: ForeignDecoder
    private var counts = Tally()
    private var text = UTF16Text()
    /// The log of Kismet; nil before the first row is needed, and for files of other formats.
    private var database: KismetDatabase?
    private var isFinished = false

    /// Opens a file. The reader reads nothing before the first call of `next()`.
    ///
    /// - Throws: `.unreadable` if the file does not exist or cannot be read.
    package init(
        path: String, format: ForeignFormat, settings: ForeignRecordingSettings = ForeignRecordingSettings(),
        strictness: RecordingReader.Strictness = .strict
    ) throws(ForeignRecordingError) {
        do throws(ArchiveFailure) {
            self.init(
                path: path, format: format, settings: settings, strictness: strictness,
                input: try ArchiveInput(path: path))
        } catch {
            throw ForeignRecordingError(file: path, format: format, problem: .unreadable(error.reason))
        }
    }

    /// Creates a reader of a file that is already open.
    init(
        path: String, format: ForeignFormat, settings: ForeignRecordingSettings,
        strictness: RecordingReader.Strictness, input: ArchiveInput
    ) {
        self.path = path
        self.format = format
        self.strictness = strictness
        self.input = input
        decoder = ForeignDecoder(format: format, settings: settings)
    }

    /// The counts of what was read and left out so far.
    package var tally: Tally {
        var tally = counts
        tally.records = decoder.records
        tally.droppedNotMeasurements = decoder.notMeasurements
        tally.lateEntries = decoder.late
        tally.ignored = decoder.ignored
        tally.unreadColumns = decoder.unread
        tally.standIns = decoder.standIns
        return tally
    }

    /// The time of instant zero in microseconds since 1970; nil before the first entry, and if the file doesn't state
    /// it.
    package var startMicroseconds: Int64? { decoder.start.map { $0 / 1000 } }

    /// Returns an entry's instant as the file's time.
    package func time(of instant: Instant) -> ForeignTime {
        guard let start = decoder.start else { return ForeignTime(nanoseconds: instant.nanoseconds, isUnix: false) }
        return ForeignTime(nanoseconds: instant.nanoseconds &+ start, isUnix: true)
    }

    /// What the reader understood of the file so far, a line each.
    package var understood: [String] { database?.understood ?? decoder.understood }

    /// The model of the receiver; nil before the first entry, and if the file doesn't state it.
    package var device: String? { decoder.device }

    /// Returns the next reading or ground truth; nil at the end and after an error. It never returns a header.
    ///
    /// - Throws: `ForeignRecordingError` if the file or, when strict, a line, object or packet is invalid.
    package mutating func next() throws(ForeignRecordingError) -> RecordingEntry? {
        while !isFinished {
            do throws(ForeignProblem) {
                switch try decoder.next() {
                case .entry(let entry):
                    counts.entries += 1
                    return entry
                case .needsMore: try fill()
                case .end: isFinished = true
                }
            } catch {
                try handle(error)
            }
        }
        return nil
    }

    /// Returns all remaining entries. Memory use grows with the file.
    ///
    /// - Throws: `ForeignRecordingError` if the file or, when strict, a line, object or packet is invalid.
    package mutating func readAll() throws(ForeignRecordingError) -> [RecordingEntry] {
        var entries: [RecordingEntry] = []
        while let entry = try next() { entries.append(entry) }
        return entries
    }

    private mutating func fill() throws(ForeignProblem) {
        guard format != .kismetDatabase else { return try fillRows() }
        do throws(ArchiveFailure) {
            var text = text
            let isText = format != .pcap
            try decoder.fill { (bytes) throws(ArchiveFailure) in
                guard isText else { return try input.read(into: &bytes) }
                // No bytes mean the end of the file, so a part of a character alone isn't passed on.
                let count = bytes.count
                while bytes.count == count {
                    var next: [UInt8] = []
                    try input.read(into: &next)
                    bytes += text.text(of: next)
                    if next.isEmpty { break }
                }
            }
            self.text = text
        } catch {
            throw ForeignProblem(nil, .unreadable(error.reason), endsFile: true)
        }
    }

    private mutating func fillRows() throws(ForeignProblem) {
        let database = if let database { database } else { try openDatabase() }
        self.database = database
        try decoder.fill(from: database)
    }

    /// Opens the log of Kismet. A compressed file or a pipe is unpacked into memory.
    private func openDatabase() throws(ForeignProblem) -> KismetDatabase {
        if SQLiteHeader.isDatabase(path: path) { return try KismetDatabase(path: path) }
        var image: [UInt8] = []
        do throws(ArchiveFailure) {
            var count = -1
            while image.count > count, image.count <= KismetDatabase.maximumImage {
                count = image.count
                try input.read(into: &image)
            }
        } catch {
            throw ForeignProblem(nil, .unreadable(error.reason), endsFile: true)
        }
        guard !image.isEmpty else { throw ForeignProblem(nil, .empty, endsFile: true) }
        guard image.count <= KismetDatabase.maximumImage else {
            throw ForeignProblem(
                nil,
                .unsupported(
                    "unpacks to more than \(KismetDatabase.maximumImage) bytes", remedy: "Unpack it into a file"),
                endsFile: true)
        }
        return try KismetDatabase(path: path, image: image)
    }

    /// Throws the problem, or counts it if the reader can continue.
    private mutating func handle(_ problem: ForeignProblem) throws(ForeignRecordingError) {
        let place: ForeignRecordingError.Place? =
            switch problem.problem {
            case .unreadable, .empty: nil
            case .unsupported where problem.field == nil && problem.endsFile: nil
            default: decoder.place
            }
        let error = ForeignRecordingError(
            file: path, format: format, place: place, field: problem.field, problem: problem.problem)
        // If the end of the file is missing, the reader reads the rest. Any other problem that ends the file concerns
        // the whole file.
        let isCutOff = if case .cutOff = problem.problem { true } else { false }
        guard strictness == .lenient, !problem.endsFile || isCutOff && decoder.records > 0 else {
            isFinished = true
            throw error
        }
        counts.skippedRecords += 1
        if counts.errors.count < Tally.maximumErrors { counts.errors.append(error) }
    }
}

// Not Sendable: the reader owns an open file, which one task reads at a time.
@available(*, unavailable)
extension ForeignRecordingReader: Sendable {}

/// A recording of another program as a scan source. It never emits the ground truth in the file.
///
/// The source reads the file on demand, so memory use is constant for any length. It emits the sighting of an
/// advertisement that contains a beacon directly after that advertisement.
public struct ForeignRecordingSource: ScanSource {
    /// The path of the file.
    package let path: String
    /// The format of the file.
    package let format: ForeignFormat
    /// The values that the file doesn't state, and the part of the file that is read.
    package let settings: ForeignRecordingSettings
    /// The treatment of invalid lines, objects and packets.
    package let strictness: RecordingReader.Strictness
    /// The time of instant zero, once a stream has read it.
    private let start = FoundStart()
    private let whenFinished: @Sendable (ForeignRecordingReader.Tally) -> Void

    /// Creates a source. Each stream opens the file when its first reading is requested.
    public init(
        path: String, format: ForeignFormat, settings: ForeignRecordingSettings = ForeignRecordingSettings(),
        strictness: RecordingReader.Strictness = .strict
    ) {
        self.init(path: path, format: format, settings: settings, strictness: strictness, whenFinished: { _ in })
    }

    /// Creates a source that reports what it has read.
    ///
    /// - Parameter whenFinished: called with the tally at the end of the file, but not after an error.
    package init(
        path: String, format: ForeignFormat, settings: ForeignRecordingSettings = ForeignRecordingSettings(),
        strictness: RecordingReader.Strictness = .strict,
        whenFinished: @escaping @Sendable (ForeignRecordingReader.Tally) -> Void
    ) {
        self.path = path
        self.format = format
        self.settings = settings
        self.strictness = strictness
        self.whenFinished = whenFinished
    }

    /// A recorded pace: time advances with the readings of the file.
    public var pace: ScanPace { .recorded }

    /// The wall clock of the first entry; nil if the file has no such time, and before the first reading.
    public var wallClock: WallClock? { start.wallClock }

    /// Returns a stream that reads the file from its beginning; it throws `ForeignRecordingError`.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        let playback = ForeignPlayback(of: self)
        return AsyncThrowingStream { try playback.next() }
    }

    fileprivate func note(_ microseconds: Int64?) {
        guard start.wallClock == nil, let microseconds else { return }
        start.note(WallClock(timeOfZero: .microseconds(microseconds)))
    }

    fileprivate func finish(_ tally: ForeignRecordingReader.Tally) { whenFinished(tally) }
}

/// The state of one stream that reads a file.
///
/// A class, because a stream's closure cannot own a mutable value. The lock makes it safe to send.
private final class ForeignPlayback: Sendable {
    private struct State: ~Copyable {
        var reader: ForeignRecordingReader?
        var decoder = ReadingDecoder()
        /// The sighting in the last advertisement, not returned yet.
        var decoded: Sighting?
    }

    private let source: ForeignRecordingSource
    private let state = Mutex(State(reader: nil, decoded: nil))

    init(of source: ForeignRecordingSource) { self.source = source }

    /// Returns the next reading; nil at the end. The first call opens the file.
    func next() throws(ForeignRecordingError) -> SensorReading? {
        try state.withLock { (state) throws(ForeignRecordingError) in
            if state.reader == nil {
                state.reader = try ForeignRecordingReader(
                    path: source.path, format: source.format, settings: source.settings, strictness: source.strictness)
            }
            if let sighting = state.decoded.take() { return .sighting(sighting) }
            while let entry = try state.reader?.next() {
                source.note(state.reader?.startMicroseconds)
                guard case .measurement(let recorded) = entry else { continue }
                let reading = state.decoder.decode(recorded)
                state.decoded = reading.sightingInAdvertisement
                if reading.content != .rejected(.repetition) { return recorded }
            }
            if let tally = state.reader?.tally { source.finish(tally) }
            return nil
        }
    }
}

/// A file of any format that this package reads, identified by its content. It is opened only once, so it can be a
/// pipe.
package enum ConvertibleFile: ~Copyable {
    case recorded(RecordedFile)
    case foreign(ForeignRecordingReader)

    /// Opens the file and waits for the lines that determine its format.
    ///
    /// - Parameters:
    ///   - format: the format; nil detects it.
    ///   - adapter: the adapter of a capture whose advertisements are read; nil reads those of all adapters.
    /// - Throws: `RecordingError` with `.unreadable` if the file does not exist or cannot be read, and
    ///   `UnknownFormatError` if its content has no known format.
    package init(
        path: String, format: ForeignFormat? = nil, settings: ForeignRecordingSettings, adapter: UInt16? = nil,
        strictness: RecordingReader.Strictness
    ) throws {
        let (input, detected): (ArchiveInput, ForeignFormatDetector.Result)
        do throws(ArchiveFailure) {
            input = try ArchiveInput(path: path)
            if let format {
                detected = .foreign(format)
            } else {
                let detector = ForeignFormatDetector(settings: settings)
                detected = detector.result(try input.start { detector.isEnough($0) }, isWhole: true)
            }
        } catch {
            throw RecordingError(file: path, problem: .unreadable(error.reason))
        }
        if case .unknown(let headers) = detected { throw UnknownFormatError(file: path, headers: headers) }
        if case .foreign(let format) = detected {
            self = .foreign(
                ForeignRecordingReader(
                    path: path, format: format, settings: settings, strictness: strictness, input: input))
            return
        }
        do throws(ArchiveFailure) {
            self = .recorded(try RecordedFile(path: path, adapter: adapter, strictness: strictness, input: input))
        } catch {
            throw RecordingError(file: path, problem: .unreadable(error.reason))
        }
    }
}
