import IndoorVocabulary

/// A recording as a source of sensor readings. Truth stays in the file: the engine never sees it.
///
/// Lines are read when they are wanted, so that memory stays constant whatever the length. An advertisement that holds a
/// beacon is followed by its sighting. Whoever recorded a source of both wrote both: a sighting that stands right behind
/// its advertisement is not given out twice.
public struct RecordingSource: ScanSource {
    /// Path of the file.
    public let path: String
    /// What to do with a bad line.
    public let strictness: RecordingReader.Strictness
    /// When the recording began, once a stream has read that.
    let start = FoundStart()
    /// Called at the end of the recording with what was passed over.
    let whenFinished: @Sendable (RecordingReader.Tally) -> Void

    /// Creates a source; the file is opened when the first reading is wanted.
    ///
    /// - Parameter whenFinished: called at the end of the recording, but not after an error, with what was passed over.
    public init(
        path: String, strictness: RecordingReader.Strictness = .strict,
        whenFinished: @escaping @Sendable (RecordingReader.Tally) -> Void = { _ in }
    ) {
        self.path = path
        self.strictness = strictness
        self.whenFinished = whenFinished
    }

    /// A recording's time passes with its readings.
    public var pace: ScanPace { .recorded }

    /// That of the header's `startedAt`; nil without one, and before a first reading was read.
    public var wallClock: WallClock? { start.wallClock }

    /// Reads the recording from its beginning; throws `RecordingError`.
    ///
    /// Read it from a task or an actor of its own, where a reading costs about a microsecond: on the main actor each one
    /// is a change of thread, which costs twenty times as much.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        let playback = RecordingPlayback(of: self)
        return AsyncThrowingStream { try playback.next() }
    }
}
