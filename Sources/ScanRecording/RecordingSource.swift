import IndoorLocalization

/// A recording as a source of sensor readings. Truth stays in the file: the engine never sees it.
///
/// Lines are read when they are wanted, so that memory stays constant whatever the length. An advertisement that holds a
/// beacon is followed by its sighting, unless the recording has that sighting on the next line already.
public struct RecordingSource: ScanSource {
    /// Path of the file.
    public let path: String
    /// What to do with a bad line.
    public let strictness: RecordingReader.Strictness

    /// Creates a source; the file is opened when the readings are asked for.
    public init(path: String, strictness: RecordingReader.Strictness = .strict) {
        self.path = path
        self.strictness = strictness
    }

    /// A recording's time passes with its readings.
    public var pace: ScanPace { .recorded }

    /// Reads the recording from its beginning; throws `RecordingError`.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        let playback = RecordingPlayback(path: path, strictness: strictness)
        return AsyncThrowingStream { try playback.next() }
    }
}
