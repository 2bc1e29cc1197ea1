import IndoorVocabulary

/// How far the training of a room is.
public struct TrainingProgress: Hashable, Sendable {
    /// The room.
    public var room: String
    /// What the recorder is doing.
    public var state: TrainingRecorder.State
    /// Samples so far, about one a second.
    public var sampleCount: Int
    /// The beacons that were heard at least once.
    public var beacons: Set<BeaconIdentity>
    /// What can be expected of the samples so far, and what is missing.
    public var quality: FingerprintQuality

    /// Creates the progress of a fingerprint.
    public init(room: String, state: TrainingRecorder.State, fingerprint: RoomFingerprint) {
        self.room = room
        self.state = state
        sampleCount = fingerprint.samples.count
        beacons = fingerprint.beacons
        quality = FingerprintQuality(of: fingerprint)
    }
}

/// Takes samples of one room from what its region is ranged with.
package struct RoomTrainer: Sendable {
    /// The room.
    package let room: String
    /// The region whose rangings count; nil for each one's.
    private let regionID: String?
    private let unixTime: @Sendable (Instant) -> Double
    private var recorder = TrainingRecorder()

    /// Begins to take samples.
    ///
    /// - Parameter unixTime: the time of the wall clock at an instant, in seconds since 1970, UTC; asked with each sample.
    package init(
        room: String, regionID: String?, placement: RoomFingerprint.Placement,
        unixTime: @escaping @Sendable (Instant) -> Double
    ) {
        self.room = room
        self.regionID = regionID
        self.unixTime = unixTime
        recorder.start(at: .zero, unixTime: 0, placement: placement)
    }

    /// How far it is.
    package var progress: TrainingProgress {
        TrainingProgress(room: room, state: recorder.state, fingerprint: recorder.fingerprint)
    }

    /// Takes in a ranging; returns whether it is a sample.
    package mutating func observe(_ ranging: RegionRanging) -> Bool {
        guard regionID == nil || ranging.regionID == regionID else { return false }
        return recorder.observe(RoomScan(ranging), unixTime: unixTime(ranging.instant))
    }

    /// Takes no samples until it is resumed.
    package mutating func pause() { recorder.pause() }

    /// Ends a pause.
    package mutating func resume() { recorder.resume() }

    /// Ends the training; returns its samples.
    package mutating func finish() -> RoomFingerprint { recorder.finish() ?? RoomFingerprint() }

    /// Ends the training, and drops its samples.
    package mutating func abort() { recorder.abort() }
}
