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
