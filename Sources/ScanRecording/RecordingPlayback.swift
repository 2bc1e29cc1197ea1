import IndoorLocalization
import Synchronization

/// One pass through a recording, on behalf of one stream.
///
/// A class because a stream's closure cannot own a value that changes; the lock makes it safe to send.
final class RecordingPlayback: Sendable {
    private let path: String
    private let strictness: RecordingReader.Strictness
    private let reader = Mutex<RecordingReader?>(nil)

    init(path: String, strictness: RecordingReader.Strictness) {
        self.path = path
        self.strictness = strictness
    }

    /// The next reading; nil at the end. The first call opens the file.
    func next() throws(RecordingError) -> SensorReading? {
        try reader.withLock { (reader) throws(RecordingError) in
            if reader == nil { reader = try RecordingReader(path: path, strictness: strictness) }
            while let entry = try reader?.next() {
                if case .measurement(let measurement) = entry { return measurement }
            }
            return nil
        }
    }
}
