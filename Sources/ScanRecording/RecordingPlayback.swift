import BeaconScanning
import IndoorVocabulary
import Synchronization

/// The state of one stream that reads a recording.
///
/// A class, because a stream's closure cannot own a mutable value. The lock makes it safe to send.
final class RecordingPlayback: Sendable {
    private struct State: ~Copyable {
        var reader: RecordingReader?
        var decoder = ReadingDecoder()
        /// The sighting in the last advertisement, not returned yet.
        var decoded: Sighting?
    }

    private let source: RecordingSource
    private let state = Mutex(State(reader: nil, decoded: nil))

    init(of source: RecordingSource) { self.source = source }

    /// Returns the next reading; nil at the end. The first call opens the file.
    func next() throws(RecordingError) -> SensorReading? {
        try state.withLock { (state) throws(RecordingError) in
            if state.reader == nil {
                state.reader = try RecordingReader(path: source.path, strictness: source.strictness)
            }
            if let sighting = state.decoded.take() { return .sighting(sighting) }
            return try read(&state)
        }
    }

    /// Returns the next reading of the file, without a sighting that was already decoded from the line before.
    private func read(_ state: inout State) throws(RecordingError) -> SensorReading? {
        while let entry = try state.reader?.next() {
            if case .header(let header) = entry { source.start.note(header.wallClock) }
            guard case .measurement(let recorded) = entry else { continue }
            let reading = state.decoder.decode(recorded)
            state.decoded = reading.sightingInAdvertisement
            if reading.content != .rejected(.repetition) { return recorded }
        }
        if let tally = state.reader?.tally { source.whenFinished(tally) }
        return nil
    }
}
