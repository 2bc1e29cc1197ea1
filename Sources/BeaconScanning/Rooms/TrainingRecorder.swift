import IndoorVocabulary

/// Records what is heard in one room, to tell the room by it later.
///
///     var recorder = TrainingRecorder()
///     recorder.start(at: scan.instant, unixTime: 1_700_000_000)
///     recorder.observe(scan)
///     let kitchen = recorder.finish()
///
/// A value with time as an input: whoever ranges hands on the scans, one a second.
public struct TrainingRecorder: Hashable, Sendable {
    /// What the recorder is doing.
    public enum State: String, Hashable, Sendable {
        /// Nothing: it was not started, was aborted, or has finished.
        case idle
        /// It takes samples.
        case recording
        /// It takes none until it is resumed.
        case paused
    }

    /// What the recorder is doing.
    public private(set) var state = State.idle
    private var samples: [RoomFingerprint.Sample] = []
    private var startedAt = Instant.zero
    private var unixTime = 0.0
    private var placement = RoomFingerprint.Placement.hand

    /// Creates a recorder that is idle.
    public init() {}

    /// How many samples were taken since the start.
    public var sampleCount: Int { samples.count }

    /// The fingerprint as far as it was recorded; its coverage and quality tell when it is enough.
    public var fingerprint: RoomFingerprint { RoomFingerprint(samples: samples) }

    /// Begins a new fingerprint; samples of one that was not finished are discarded.
    ///
    /// - Parameters:
    ///   - instant: the present, on the timeline of the scans.
    ///   - unixTime: the same in seconds since 1970, UTC.
    ///   - placement: where the device is carried meanwhile.
    public mutating func start(
        at instant: Instant, unixTime: Double, placement: RoomFingerprint.Placement = .hand
    ) {
        samples = []
        self.placement = placement
        startedAt = instant
        self.unixTime = unixTime
        state = .recording
    }

    /// Takes no samples until `resume()`, such as while somebody phones.
    public mutating func pause() { if state == .recording { state = .paused } }

    /// Ends a pause.
    public mutating func resume() { if state == .paused { state = .recording } }

    /// Discards the samples, and is idle.
    public mutating func abort() {
        samples = []
        state = .idle
    }

    /// Adds a scan as a sample, with whole dBm as the format wants them; a scan without beacons is none.
    public mutating func observe(_ scan: RoomScan) {
        observe(scan, unixTime: unixTime + startedAt.duration(to: scan.instant).seconds)
    }

    /// Adds a scan that was made at a time of the wall clock, in seconds since 1970, UTC.
    ///
    /// - Returns: whether it is a sample.
    @discardableResult mutating func observe(_ scan: RoomScan, unixTime: Double) -> Bool {
        guard state == .recording, !scan.rssi.isEmpty else { return false }
        samples.append(
            RoomFingerprint.Sample(
                timestamp: unixTime, rssi: scan.rssi.mapValues { $0.rounded() }, placement: placement))
        return true
    }

    /// Ends the recording, and is idle.
    ///
    /// - Returns: the fingerprint, also one without samples; nil if nothing was started, or it was aborted.
    public mutating func finish() -> RoomFingerprint? {
        guard state != .idle else { return nil }
        defer { abort() }
        return fingerprint
    }
}
