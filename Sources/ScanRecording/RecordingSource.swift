import IndoorVocabulary

/// A recording as a scan source. It never emits the ground truth in the file.
///
/// The source reads lines on demand, so memory use is constant for any length. It emits the sighting of an
/// advertisement that contains a beacon directly after that advertisement. If the recording contains both, the source
/// emits the sighting only once.
public struct RecordingSource: ScanSource {
    /// The path of the file.
    package let path: String
    /// The treatment of invalid lines.
    package let strictness: RecordingReader.Strictness
    /// The time at which the recording began, once a stream has read it.
    let start = FoundStart()
    /// The closure that is called with the tally at the end of the recording.
    let whenFinished: @Sendable (RecordingReader.Tally) -> Void

    /// Creates a source. Each stream opens the file when its first reading is requested.
    ///
    /// - Parameter whenFinished: called with the tally at the end of the recording, but not after an error.
    public init(
        path: String, strictness: RecordingReader.Strictness = .strict,
        whenFinished: @escaping @Sendable (RecordingReader.Tally) -> Void = { _ in }
    ) {
        self.path = path
        self.strictness = strictness
        self.whenFinished = whenFinished
    }

    /// A recorded pace: time advances with the readings of the recording.
    public var pace: ScanPace { .recorded }

    /// The wall clock from the header's `startedAt`; nil if that is missing, and before the first reading.
    public var wallClock: WallClock? { start.wallClock }

    /// Returns a stream that reads the recording from its beginning; it throws `RecordingError`.
    ///
    /// Read the stream from a task or an actor of its own, where each reading takes about a microsecond. On the main
    /// actor, each reading requires a thread switch and takes twenty times as long.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        let playback = RecordingPlayback(of: self)
        return AsyncThrowingStream { try playback.next() }
    }
}
