import IndoorVocabulary
import Synchronization

/// One pass through a recording, on behalf of one stream.
///
/// A class because a stream's closure cannot own a value that changes; the lock makes it safe to send.
final class RecordingPlayback: Sendable {
    private struct State: ~Copyable {
        var reader: RecordingReader?
        var unfolding = AdvertisementUnfolding()
        /// The sighting that the last advertisement held, not handed out yet.
        var decoded: Sighting?
    }

    private let source: RecordingSource
    private let state = Mutex(State(reader: nil, decoded: nil))

    init(of source: RecordingSource) { self.source = source }

    /// The next reading; nil at the end. The first call opens the file.
    func next() throws(RecordingError) -> SensorReading? {
        try state.withLock { (state) throws(RecordingError) in
            if state.reader == nil {
                state.reader = try RecordingReader(path: source.path, strictness: source.strictness)
            }
            if let sighting = state.decoded.take() { return .sighting(sighting) }
            return try read(&state)
        }
    }

    /// The next reading of the file, but for a sighting that was already decoded from the line before.
    private func read(_ state: inout State) throws(RecordingError) -> SensorReading? {
        while let entry = try state.reader?.next() {
            if case .header(let header) = entry { source.start.note(header.wallClock) }
            guard case .measurement(let recorded) = entry else { continue }
            let (reading, sighting) = state.unfolding.unfold(recorded)
            state.decoded = sighting
            if let reading { return reading }
        }
        if let tally = state.reader?.tally { source.whenFinished(tally) }
        return nil
    }
}
