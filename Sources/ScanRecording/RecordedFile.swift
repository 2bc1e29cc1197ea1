import BeaconScanning
import IndoorVocabulary
import Synchronization

/// A recording or a Bluetooth capture, identified by its content. It is opened only once, so it can be a pipe.
package enum RecordedFile: ~Copyable {
    case recording(RecordingReader)
    case capture(BTSnoopReader)

    /// Opens the file and waits for its first bytes.
    ///
    /// - Parameter adapter: the adapter of a capture whose advertisements are read; nil reads those of all adapters.
    /// - Throws: `.unreadable` if the file does not exist or cannot be read.
    package init(
        path: String, adapter: UInt16? = nil, strictness: RecordingReader.Strictness
    ) throws(RecordingError) {
        do throws(ArchiveFailure) {
            let input = try ArchiveInput(path: path)
            try self.init(path: path, adapter: adapter, strictness: strictness, input: input)
        } catch {
            throw RecordingError(file: path, problem: .unreadable(error.reason))
        }
    }

    /// Waits for the first bytes of a file that is already open, but not read yet.
    ///
    /// - Throws: `ArchiveFailure` if the file cannot be read.
    package init(
        path: String, adapter: UInt16?, strictness: RecordingReader.Strictness, input: ArchiveInput
    ) throws(ArchiveFailure) {
        if try input.begins(with: BTSnoopRecord.identification) {
            self = .capture(BTSnoopReader(path: path, adapter: adapter, strictness: strictness, input: input))
        } else {
            self = .recording(RecordingReader(path: path, strictness: strictness, input: input))
        }
    }
}

/// The readings and the ground truth of a recording or a capture, read once from beginning to end.
///
/// The sighting in an advertisement follows directly after it.
///
/// A class, because it owns an open file. The lock makes it safe to send.
package final class RecordedReadings: Sendable {
    /// The counts of skipped lines or records so far.
    package enum Tally: Sendable {
        case recording(RecordingReader.Tally)
        case capture(BTSnoopReader.Tally)
    }

    private struct State: ~Copyable {
        /// The reader of a recording; either this or the reader of a capture is set.
        var recording: RecordingReader?
        var capture: BTSnoopReader?
        var decoder = ReadingDecoder()
        /// The sighting in the last advertisement, not returned yet.
        var decoded: Sighting?

        init(_ file: consuming RecordedFile) {
            switch consume file {
            case .recording(let reader): recording = consume reader
            case .capture(let reader): capture = consume reader
            }
        }

        mutating func wallClock() -> WallClock? {
            if let start = capture?.startMicroseconds { return WallClock(startMicroseconds: start) }
            return recording?.header?.wallClock
        }

        mutating func header() -> RecordingHeader? { recording?.header }

        /// Returns the counts; mutating, because an optional noncopyable reader cannot be accessed otherwise.
        mutating func tally() -> Tally {
            if let tally = capture?.tally { return .capture(tally) }
            return .recording(recording?.tally ?? .init())
        }

        /// Returns the next reading, nil at the end, and the ground truth before it.
        mutating func next() throws -> (SensorReading?, [Truth]) {
            if let sighting = decoded.take() { return (.sighting(sighting), []) }
            var places: [Truth] = []
            while let recorded = try read(&places) {
                let reading = decoder.decode(recorded)
                decoded = reading.sightingInAdvertisement
                if reading.content != .rejected(.repetition) { return (recorded, places) }
            }
            return (nil, places)
        }

        private mutating func read(_ places: inout [Truth]) throws -> SensorReading? {
            if capture != nil { return try capture?.next() }
            while let entry = try recording?.next() {
                switch entry {
                case .header: continue
                case .truth(let place): places.append(place)
                case .measurement(let reading): return reading
                }
            }
            return nil
        }
    }

    private let state: Mutex<State>

    /// Opens the file and waits for its first bytes.
    ///
    /// - Throws: `.unreadable` if the file does not exist or cannot be read.
    package init(path: String, strictness: RecordingReader.Strictness) throws(RecordingError) {
        state = Mutex(State(try RecordedFile(path: path, strictness: strictness)))
    }

    /// Returns the next reading; nil at the end. For a pipe, it waits until a reading is available.
    ///
    /// - Parameter truth: called with each ground truth, in the order of the file.
    /// - Throws: `RecordingError` or `BTSnoopError` if the file is invalid.
    package func next(truth: (Truth) -> Void = { _ in }) throws -> SensorReading? {
        let (reading, places) = try state.withLock { state in try state.next() }
        places.forEach(truth)
        return reading
    }

    /// The model of the receiver; nil if unknown, and before the first reading.
    package var device: String? { state.withLock { state in state.header()?.device } }

    /// The start of the recording, from its header; nil if unknown, and before the first reading.
    package var startedAt: String? { state.withLock { state in state.header()?.startedAt } }

    /// The relation of instants to Unix time; nil if the file has no start time, and before the first reading.
    package var wallClock: WallClock? { state.withLock { state in state.wallClock() } }

    /// The counts of skipped lines or records so far.
    package var tally: Tally { state.withLock { state in state.tally() } }
}
