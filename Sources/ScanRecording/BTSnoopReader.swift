import IndoorVocabulary

/// Reads the advertisements of a Bluetooth capture (btsnoop) in constant memory, as `btmon -w` and Wireshark write it.
///
/// Datalinks 1001 (H1), 1002 (H4) and 2001 (Linux monitor); plain, or compressed with gzip. Advertisements in fragments
/// are put together. An anonymous advertisement that holds a beacon is given as its sighting without an address. Packets
/// of other kinds are passed over. An instant is the time since the capture's first record, of whatever kind it is.
public struct BTSnoopReader: ~Copyable {
    /// What the reader passed over so far.
    public struct Tally: Hashable, Sendable {
        /// Records that were read, of whatever kind.
        public var records = 0
        /// Bad records that were skipped; always 0 when strict.
        public var skippedRecords = 0
        /// Advertisements that were dropped because their RSSI is no measurement.
        public var droppedNotMeasurements = 0
        /// Anonymous advertisements that hold no beacon.
        public var droppedAnonymous = 0
        /// Advertisements that were given although the end of their data is not there.
        public var truncatedAdvertisements = 0
        /// Advertisements that were dropped because their last fragment never came.
        public var unfinishedAdvertisements = 0
        /// Scan responses among what was given.
        public var scanResponses = 0
        /// Packets that the capturing program lost, as it says itself.
        public var lostPackets = 0
        /// The adapters that heard advertisements, also those that were not asked for. Only the Linux monitor tells them
        /// apart: in other captures there is adapter 0.
        public var adapters: Set<UInt16> = []
        /// The errors of the first bad records, at most `maximumErrors`.
        public var errors: [BTSnoopError] = []

        /// How many errors are kept.
        public static let maximumErrors = 10

        /// Creates a tally of nothing.
        public init() {}
    }

    /// Path of the file.
    public let path: String
    /// The adapter whose advertisements are taken; nil takes those of all.
    public let adapter: UInt16?
    /// What to do with a bad record. Lenient, a record that is cut off or of an impossible length ends the capture.
    public let strictness: RecordingReader.Strictness
    /// What was passed over so far.
    public var tally: Tally { decoder.tally }
    /// How packets are laid out; nil until the first reading was wanted.
    public var datalink: BTSnoopDatalink? { decoder.datalink }
    /// When the capture's first record was made: microseconds since 1970-01-01 UTC; nil until a record was read.
    public var startMicroseconds: Int64? { decoder.startMicroseconds }

    private let input: ArchiveInput
    private var buffer = BTSnoopBuffer()
    private var decoder: BTSnoopDecoder
    private var isFinished = false

    /// Opens a capture; nothing is read before the first call of `next()`.
    ///
    /// - Parameter adapter: take only what this adapter heard; nil takes all.
    /// - Throws: `.unreadable` if there is no such file or it may not be read.
    public init(
        path: String, adapter: UInt16? = nil, strictness: RecordingReader.Strictness = .strict
    ) throws(BTSnoopError) {
        self.path = path
        self.strictness = strictness
        self.adapter = adapter
        decoder = BTSnoopDecoder(adapter: adapter)
        do throws(ArchiveFailure) {
            input = try ArchiveInput(path: path)
        } catch {
            throw BTSnoopError(file: path, problem: .unreadable(error.reason))
        }
    }

    /// Reads a file that is open already.
    init(path: String, adapter: UInt16?, strictness: RecordingReader.Strictness, input: ArchiveInput) {
        self.path = path
        self.strictness = strictness
        self.adapter = adapter
        decoder = BTSnoopDecoder(adapter: adapter)
        self.input = input
    }

    /// Whether a file begins as a capture does; false if it can't be read, too.
    ///
    /// A pipe has lost its beginning then: what is read of it cannot be read again.
    public static func isCapture(path: String) -> Bool {
        guard let input = try? ArchiveInput(path: path) else { return false }
        return (try? input.begins(with: BTSnoopRecord.identification)) ?? false
    }

    /// The next advertisement or, of an anonymous one, sighting; nil after the last one and after an error.
    ///
    /// - Throws: what is wrong with the file or, when strict, with a record.
    public mutating func next() throws(BTSnoopError) -> SensorReading? {
        while true {
            if let reading = decoder.next() { return reading }
            guard !isFinished else { return nil }
            do throws(BTSnoopError.Problem) {
                if let problem = decoder.takeProblem() { throw problem }
                try step()
            } catch {
                try handle(error)
            }
        }
    }

    /// All readings that are left. Memory grows with the capture.
    ///
    /// - Throws: what is wrong with the file or, when strict, with a record.
    public mutating func readAll() throws(BTSnoopError) -> [SensorReading] {
        var readings: [SensorReading] = []
        while let reading = try next() { readings.append(reading) }
        return readings
    }

    /// Takes in the next piece of the file.
    private mutating func step() throws(BTSnoopError.Problem) {
        switch try buffer.next() {
        case .header(let datalink):
            decoder.begin(datalink)
        case .record(let record):
            let bytes = buffer.bytes
            decoder.decode(record, of: bytes.span)
        case .needsMore:
            do throws(ArchiveFailure) {
                try buffer.fill { (bytes) throws(ArchiveFailure) in try input.read(into: &bytes) }
            } catch {
                throw .unreadable(error.reason)
            }
        case .end:
            isFinished = true
            decoder.finish()
        }
    }

    /// Throws the problem or, where one can go on, counts it.
    private mutating func handle(_ problem: BTSnoopError.Problem) throws(BTSnoopError) {
        // Of the header, the whole file is meant.
        let error = BTSnoopError(file: path, offset: decoder.datalink == nil ? nil : buffer.offset, problem: problem)
        if strictness == .strict || decoder.datalink == nil {
            isFinished = true
            throw error
        }
        switch problem {
        case .unreadable:
            isFinished = true
            throw error
        case .cutOff, .recordTooLong:
            isFinished = true
            decoder.skip(error)
            decoder.finish()
        default:
            decoder.skip(error)
        }
    }
}

// Not Sendable: it owns an open file, which one task reads at a time.
@available(*, unavailable)
extension BTSnoopReader: Sendable {}
