import BeaconScanning
import IndoorVocabulary
import Synchronization

/// A Bluetooth capture (btsnoop) as a scan source. Its instants are the time since the capture's first record.
///
/// The source reads records on demand, so memory use is constant for any length. It emits the sighting of an
/// advertisement that contains a beacon directly after that advertisement.
public struct BTSnoopSource: ScanSource {
    /// The path of the file.
    package let path: String
    /// The adapter whose advertisements are read; nil reads those of all adapters.
    package let adapter: UInt16?
    /// The treatment of invalid records.
    package let strictness: RecordingReader.Strictness
    /// The time at which the capture began, once a stream has read it.
    let start = FoundStart()
    /// The closure that is called with the tally at the end of the capture.
    let whenFinished: @Sendable (BTSnoopReader.Tally) -> Void

    /// Creates a source. Each stream opens the file when its first reading is requested.
    ///
    /// - Parameters:
    ///   - adapter: the adapter whose advertisements are read; nil reads those of all adapters.
    ///   - strictness: the treatment of invalid records.
    public init(path: String, adapter: UInt16? = nil, strictness: RecordingReader.Strictness = .strict) {
        self.init(path: path, adapter: adapter, strictness: strictness, whenFinished: { _ in })
    }

    /// Creates a source that reports what it has read.
    ///
    /// - Parameter whenFinished: called with the tally at the end of the capture, but not after an error.
    package init(
        path: String, adapter: UInt16? = nil, strictness: RecordingReader.Strictness = .strict,
        whenFinished: @escaping @Sendable (BTSnoopReader.Tally) -> Void
    ) {
        self.path = path
        self.adapter = adapter
        self.strictness = strictness
        self.whenFinished = whenFinished
    }

    /// A recorded pace: time advances with the readings of the capture.
    public var pace: ScanPace { .recorded }

    /// The wall clock of the first record; nil if the capture has no time, and before the first reading.
    public var wallClock: WallClock? { start.wallClock }

    /// Returns a stream that reads the capture from its beginning; it throws `BTSnoopError`.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        let playback = BTSnoopPlayback(of: self)
        return AsyncThrowingStream { try playback.next() }
    }
}

/// The state of one stream that reads a capture.
///
/// A class, because a stream's closure cannot own a mutable value. The lock makes it safe to send.
private final class BTSnoopPlayback: Sendable {
    private struct State: ~Copyable {
        var reader: BTSnoopReader?
        var decoder = ReadingDecoder()
        /// The sighting in the last advertisement, not returned yet.
        var decoded: Sighting?
    }

    private let source: BTSnoopSource
    private let state = Mutex(State(reader: nil, decoded: nil))

    init(of source: BTSnoopSource) { self.source = source }

    /// Returns the next reading; nil at the end. The first call opens the file.
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
            state.decoded = state.decoder.decode(reading).sightingInAdvertisement
            return reading
        }
    }
}
