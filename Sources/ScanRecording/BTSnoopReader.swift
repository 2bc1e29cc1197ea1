import IndoorVocabulary

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
    /// Even when lenient, a record that is cut off or has an impossible length ends the capture.
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
    private var isFinished = false

    /// Opens a capture. The reader reads nothing before the first call of `next()`.
    ///
    /// - Parameter adapter: the adapter whose advertisements are read; nil reads those of all adapters.
    /// - Throws: `.unreadable` if the file does not exist or cannot be read.
    package init(
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

    /// Creates a reader of a file that is already open.
    init(path: String, adapter: UInt16?, strictness: RecordingReader.Strictness, input: ArchiveInput) {
        self.path = path
        self.strictness = strictness
        self.adapter = adapter
        decoder = BTSnoopDecoder(adapter: adapter)
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
            if let reading = decoder.next() { return reading }
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

    /// Processes the next piece of the file.
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

    /// Throws the problem, or counts it if the reader can continue.
    private mutating func handle(_ problem: BTSnoopError.Problem) throws(BTSnoopError) {
        // An error in the header concerns the whole file.
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

// Not Sendable: the reader owns an open file, which one task reads at a time.
@available(*, unavailable)
extension BTSnoopReader: Sendable {}
