import IndoorVocabulary
import Synchronization

/// A recording or a Bluetooth capture, as its content tells: opened once, so that it may be a pipe.
package enum RecordedFile: ~Copyable {
    case recording(RecordingReader)
    case capture(BTSnoopReader)

    /// Opens the file and waits for its first bytes.
    ///
    /// - Parameter adapter: of a capture, take only what this adapter heard; nil takes all.
    /// - Throws: `.unreadable` if there is no such file or it may not be read.
    package init(
        path: String, adapter: UInt16? = nil, strictness: RecordingReader.Strictness
    ) throws(RecordingError) {
        do throws(ArchiveFailure) {
            let input = try ArchiveInput(path: path)
            if try input.begins(with: BTSnoopRecord.identification) {
                self = .capture(
                    BTSnoopReader(path: path, adapter: adapter, strictness: strictness, input: input))
            } else {
                self = .recording(RecordingReader(path: path, strictness: strictness, input: input))
            }
        } catch {
            throw RecordingError(file: path, problem: .unreadable(error.reason))
        }
    }
}

/// One pass through a recording or a capture: its readings, an advertisement's sighting right behind it, and its truth.
///
/// A class, as it owns an open file; the lock makes it safe to send.
package final class RecordedReadings: Sendable {
    /// What was passed over so far.
    package enum Tally: Sendable {
        case recording(RecordingReader.Tally)
        case capture(BTSnoopReader.Tally)
    }

    private struct State: ~Copyable {
        /// One of them is there.
        var recording: RecordingReader?
        var capture: BTSnoopReader?
        var unfolding = AdvertisementUnfolding()
        /// The sighting that the last advertisement held, not handed out yet.
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

        /// Mutating, as an optional reader cannot be looked into otherwise.
        mutating func tally() -> Tally {
            if let tally = capture?.tally { return .capture(tally) }
            return .recording(recording?.tally ?? .init())
        }

        /// The next reading, nil at the end, and the truth before it.
        mutating func next() throws -> (SensorReading?, [Truth]) {
            if let sighting = decoded.take() { return (.sighting(sighting), []) }
            var places: [Truth] = []
            while let recorded = try read(&places) {
                let (reading, sighting) = unfolding.unfold(recorded)
                decoded = sighting
                if let reading { return (reading, places) }
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
    /// - Throws: `.unreadable` if there is no such file or it may not be read.
    package init(path: String, strictness: RecordingReader.Strictness) throws(RecordingError) {
        state = Mutex(State(try RecordedFile(path: path, strictness: strictness)))
    }

    /// The next reading; nil at the end. It waits where a pipe has none yet.
    ///
    /// - Parameter truth: is given where the device really was, in the order of the file.
    /// - Throws: `RecordingError` or `BTSnoopError`: what is wrong with the file.
    package func next(truth: (Truth) -> Void = { _ in }) throws -> SensorReading? {
        let (reading, places) = try state.withLock { state in try state.next() }
        places.forEach(truth)
        return reading
    }

    /// The model of the receiver; nil if unknown, and before the first reading.
    package var device: String? { state.withLock { state in state.header()?.device } }

    /// When the recording began, as its header says; nil if unknown, and before the first reading.
    package var startedAt: String? { state.withLock { state in state.header()?.startedAt } }

    /// How instants relate to Unix time; nil if the file doesn't tell when it began, and before the first reading.
    package var wallClock: WallClock? { state.withLock { state in state.wallClock() } }

    /// What was passed over so far.
    package var tally: Tally { state.withLock { state in state.tally() } }
}
