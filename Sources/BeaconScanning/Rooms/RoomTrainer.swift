import IndoorVocabulary

/// The progress of a room's training.
public struct TrainingProgress: Hashable, Sendable {
    /// The room.
    public var room: String
    /// The state of the recorder.
    public var state: TrainingRecorder.State
    /// The number of samples so far, about one per second.
    public var sampleCount: Int
    /// The beacons that were received at least once.
    public var beacons: Set<BeaconIdentity>
    /// The quality of the samples so far, with their shortcomings.
    public var quality: FingerprintQuality

    /// Creates the progress of a fingerprint.
    package init(room: String, state: TrainingRecorder.State, fingerprint: RoomFingerprint) {
        self.room = room
        self.state = state
        sampleCount = fingerprint.samples.count
        beacons = fingerprint.beacons
        quality = FingerprintQuality(of: fingerprint)
    }
}

/// A recorder of one room's samples from the rangings of its region.
package struct RoomTrainer: Sendable {
    /// The room.
    package let room: String
    /// The region whose rangings are used; nil for the rangings of all regions.
    private let regionID: String?
    private let unixTime: @Sendable (Instant) -> Double
    private var recorder = TrainingRecorder()

    /// Creates a trainer that records.
    ///
    /// - Parameter unixTime: returns the wall-clock time at an instant, in seconds since 1970 (UTC); called for each
    ///   sample.
    package init(
        room: String, regionID: String?, placement: RoomFingerprint.Placement,
        unixTime: @escaping @Sendable (Instant) -> Double
    ) {
        self.room = room
        self.regionID = regionID
        self.unixTime = unixTime
        recorder.start(at: .zero, unixTime: 0, placement: placement)
    }

    /// The progress of the training.
    package var progress: TrainingProgress {
        TrainingProgress(room: room, state: recorder.state, fingerprint: recorder.fingerprint)
    }

    /// Handles a ranging; returns whether it is a sample.
    package mutating func observe(_ ranging: RegionRanging) -> Bool {
        guard regionID == nil || ranging.regionID == regionID else { return false }
        return recorder.observe(RoomScan(ranging), unixTime: unixTime(ranging.instant))
    }

    /// Pauses recording until `resume()`.
    package mutating func pause() { recorder.pause() }

    /// Ends a pause.
    package mutating func resume() { recorder.resume() }

    /// Ends the training; returns the fingerprint.
    package mutating func finish() -> RoomFingerprint { recorder.finish() ?? RoomFingerprint() }

    /// Ends the training and discards its samples.
    package mutating func abort() { recorder.abort() }
}

/// A recorder of the fingerprint of one room.
///
///     var recorder = TrainingRecorder()
///     recorder.start(at: scan.instant, unixTime: 1_700_000_000)
///     recorder.observe(scan)
///     let kitchen = recorder.finish()
///
/// The recorder is a value that reads no clock: the caller passes the scans, about one per second.
public struct TrainingRecorder: Hashable, Sendable {
    /// The states of a recorder.
    public enum State: String, Hashable, Sendable {
        /// The recorder was not started, was aborted, or has finished.
        case idle
        /// The recorder records samples.
        case recording
        /// The recorder ignores scans until it is resumed.
        case paused
    }

    /// The state of the recorder.
    public private(set) var state = State.idle
    private var samples: [RoomFingerprint.Sample] = []
    private var startedAt = Instant.zero
    private var unixTime = 0.0
    private var placement = RoomFingerprint.Placement.hand

    /// Creates an idle recorder.
    public init() {}

    /// The number of samples since the start.
    public var sampleCount: Int { samples.count }

    /// The fingerprint so far; use its coverage and quality to decide when it is sufficient.
    public var fingerprint: RoomFingerprint { RoomFingerprint(samples: samples) }

    /// Begins a new fingerprint; discards the samples of an unfinished one.
    ///
    /// - Parameters:
    ///   - instant: the current instant on the timeline of the scans.
    ///   - unixTime: the same time in seconds since 1970 (UTC).
    ///   - placement: the place where a person carries the device during the recording.
    public mutating func start(
        at instant: Instant, unixTime: Double, placement: RoomFingerprint.Placement = .hand
    ) {
        samples = []
        self.placement = placement
        startedAt = instant
        self.unixTime = unixTime
        state = .recording
    }

    /// Ignores scans until `resume()`, for example during a phone call.
    public mutating func pause() { if state == .recording { state = .paused } }

    /// Ends a pause.
    public mutating func resume() { if state == .paused { state = .recording } }

    /// Discards the samples and becomes idle.
    public mutating func abort() {
        samples = []
        state = .idle
    }

    /// Adds a scan as a sample, in whole dBm as the format requires; ignores a scan without beacons.
    public mutating func observe(_ scan: RoomScan) {
        observe(scan, unixTime: unixTime + startedAt.seconds(to: scan.instant))
    }

    /// Adds a scan with its wall-clock time, in seconds since 1970 (UTC).
    ///
    /// - Returns: whether the scan is a sample.
    @discardableResult mutating func observe(_ scan: RoomScan, unixTime: Double) -> Bool {
        guard state == .recording, !scan.rssi.isEmpty else { return false }
        samples.append(
            RoomFingerprint.Sample(
                timestamp: unixTime, rssi: scan.rssi.mapValues { $0.rounded() }, placement: placement))
        return true
    }

    /// Ends the recording and becomes idle.
    ///
    /// - Returns: the fingerprint, which can be without samples; nil if the recorder was not started or was aborted.
    public mutating func finish() -> RoomFingerprint? {
        guard state != .idle else { return nil }
        defer { abort() }
        return fingerprint
    }
}
