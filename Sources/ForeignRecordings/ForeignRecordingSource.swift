import BeaconScanning
import IndoorVocabulary
import ScanRecording
import Synchronization

/// A recording of another program as a scan source. It never emits the ground truth in the file.
///
/// The source reads the file on demand, so memory use is constant for any length. It emits the sighting of an
/// advertisement that contains a beacon directly after that advertisement.
public struct ForeignRecordingSource: ScanSource {
    /// The path of the file.
    package let path: String
    /// The format of the file.
    package let format: ForeignFormat
    /// The values that the file doesn't state, and the part of the file that is read.
    package let settings: ForeignRecordingSettings
    /// The treatment of invalid lines, objects and packets.
    package let strictness: RecordingReader.Strictness
    /// The time of instant zero, once a stream has read it.
    private let start = FoundStart()
    private let whenFinished: @Sendable (ForeignRecordingReader.Tally) -> Void

    /// Creates a source. Each stream opens the file when its first reading is requested.
    public init(
        path: String, format: ForeignFormat, settings: ForeignRecordingSettings = ForeignRecordingSettings(),
        strictness: RecordingReader.Strictness = .strict
    ) {
        self.init(path: path, format: format, settings: settings, strictness: strictness, whenFinished: { _ in })
    }

    /// Creates a source that reports what it has read.
    ///
    /// - Parameter whenFinished: called with the tally at the end of the file, but not after an error.
    package init(
        path: String, format: ForeignFormat, settings: ForeignRecordingSettings = ForeignRecordingSettings(),
        strictness: RecordingReader.Strictness = .strict,
        whenFinished: @escaping @Sendable (ForeignRecordingReader.Tally) -> Void
    ) {
        self.path = path
        self.format = format
        self.settings = settings
        self.strictness = strictness
        self.whenFinished = whenFinished
    }

    /// A recorded pace: time advances with the readings of the file.
    public var pace: ScanPace { .recorded }

    /// The wall clock of the first entry; nil if the file has no such time, and before the first reading.
    public var wallClock: WallClock? { start.wallClock }

    /// Returns a stream that reads the file from its beginning; it throws `ForeignRecordingError`.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        let playback = ForeignPlayback(of: self)
        return AsyncThrowingStream { try playback.next() }
    }

    fileprivate func note(_ microseconds: Int64?) {
        guard start.wallClock == nil, let microseconds else { return }
        start.note(WallClock(timeOfZero: .microseconds(microseconds)))
    }

    fileprivate func finish(_ tally: ForeignRecordingReader.Tally) { whenFinished(tally) }
}

/// The state of one stream that reads a file.
///
/// A class, because a stream's closure cannot own a mutable value. The lock makes it safe to send.
private final class ForeignPlayback: Sendable {
    private struct State: ~Copyable {
        var reader: ForeignRecordingReader?
        var decoder = ReadingDecoder()
        /// The sighting in the last advertisement, not returned yet.
        var decoded: Sighting?
    }

    private let source: ForeignRecordingSource
    private let state = Mutex(State(reader: nil, decoded: nil))

    init(of source: ForeignRecordingSource) { self.source = source }

    /// Returns the next reading; nil at the end. The first call opens the file.
    func next() throws(ForeignRecordingError) -> SensorReading? {
        try state.withLock { (state) throws(ForeignRecordingError) in
            if state.reader == nil {
                state.reader = try ForeignRecordingReader(
                    path: source.path, format: source.format, settings: source.settings, strictness: source.strictness)
            }
            if let sighting = state.decoded.take() { return .sighting(sighting) }
            while let entry = try state.reader?.next() {
                source.note(state.reader?.startMicroseconds)
                guard case .measurement(let recorded) = entry else { continue }
                let reading = state.decoder.decode(recorded)
                state.decoded = reading.sightingInAdvertisement
                if reading.content != .rejected(.repetition) { return recorded }
            }
            if let tally = state.reader?.tally { source.finish(tally) }
            return nil
        }
    }
}
