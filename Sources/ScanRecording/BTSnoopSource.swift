import IndoorVocabulary
import Synchronization

/// A Bluetooth capture (btsnoop) as a source of sensor readings, their instants counted from the capture's first record.
///
/// Records are read when they are wanted, so that memory stays constant whatever the length. An advertisement that holds
/// a beacon is followed by its sighting.
public struct BTSnoopSource: ScanSource {
    /// Path of the file.
    public let path: String
    /// The adapter whose advertisements are taken; nil takes those of all.
    public let adapter: UInt16?
    /// What to do with a bad record.
    public let strictness: RecordingReader.Strictness
    /// When the capture began, once a stream has read that.
    let start = FoundStart()
    /// Called at the end of the capture with what was passed over.
    let whenFinished: @Sendable (BTSnoopReader.Tally) -> Void

    /// Creates a source; the file is opened when the first reading is wanted.
    ///
    /// - Parameters:
    ///   - adapter: take only what this adapter heard; nil takes all.
    ///   - strictness: what to do with a bad record.
    ///   - whenFinished: called at the end of the capture, but not after an error, with what was passed over.
    public init(
        path: String, adapter: UInt16? = nil, strictness: RecordingReader.Strictness = .strict,
        whenFinished: @escaping @Sendable (BTSnoopReader.Tally) -> Void = { _ in }
    ) {
        self.path = path
        self.adapter = adapter
        self.strictness = strictness
        self.whenFinished = whenFinished
    }

    /// A capture's time passes with its readings.
    public var pace: ScanPace { .recorded }

    /// That of the first record's time; nil if the capture tells none, and before a first reading was read.
    public var wallClock: WallClock? { start.wallClock }

    /// Reads the capture from its beginning; throws `BTSnoopError`.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        let playback = BTSnoopPlayback(of: self)
        return AsyncThrowingStream { try playback.next() }
    }
}

/// One pass through a capture, on behalf of one stream.
///
/// A class because a stream's closure cannot own a value that changes; the lock makes it safe to send.
private final class BTSnoopPlayback: Sendable {
    private struct State: ~Copyable {
        var reader: BTSnoopReader?
        var unfolding = AdvertisementUnfolding()
        /// The sighting that the last advertisement held, not handed out yet.
        var decoded: Sighting?
    }

    private let source: BTSnoopSource
    private let state = Mutex(State(reader: nil, decoded: nil))

    init(of source: BTSnoopSource) { self.source = source }

    /// The next reading; nil at the end. The first call opens the file.
    func next() throws(BTSnoopError) -> SensorReading? {
        try state.withLock { (state) throws(BTSnoopError) in
            if state.reader == nil {
                state.reader = try BTSnoopReader(
                    path: source.path, adapter: source.adapter, strictness: source.strictness)
            }
            if let sighting = state.decoded.take() { return .sighting(sighting) }
            guard let reading = try state.reader?.next() else {
                if let tally = state.reader?.tally { source.whenFinished(tally) }
                return nil
            }
            if source.start.wallClock == nil, let begun = state.reader?.startMicroseconds {
                source.start.note(WallClock(startMicroseconds: begun))
            }
            state.decoded = state.unfolding.unfold(reading).sighting
            return reading
        }
    }
}
