import IndoorVocabulary

/// The estimated probabilities of the rooms that the device may be in.
public struct RoomEstimate: Hashable, Sendable {
    /// A room, or the state outside all trained rooms, with its probability.
    public struct Candidate: Hashable, Sendable {
        /// The room's name; nil for none of the trained rooms.
        public var room: String?
        /// The probability; in [0, 1].
        public var probability: Double

        /// Creates a candidate.
        public init(room: String?, probability: Double) {
            self.room = room
            self.probability = probability
        }
    }

    /// The time of the scan.
    public var instant: Instant
    /// All candidates, the most probable first; their probabilities add up to 1.
    public let candidates: [Candidate]

    /// Creates an estimate; candidates of equal probability keep their order.
    ///
    /// The result is nil without candidates.
    public init?(instant: Instant, candidates: [Candidate]) {
        guard !candidates.isEmpty else { return nil }
        self.instant = instant
        let order = candidates.indices.sorted { left, right in
            (-candidates[left].probability, left) < (-candidates[right].probability, right)
        }
        self.candidates = order.map { candidates[$0] }
    }

    /// The most probable room; nil if it is more probable that the device is in none of the trained rooms.
    public var room: String? { candidates[0].room }
    /// The probability of `room`, or, if `room` is nil, of being in none of the trained rooms; in [0, 1].
    public var probability: Double { candidates[0].probability }

    /// Returns the probability of a room; 0 for one that was not trained.
    public func probability(of room: String?) -> Double {
        candidates.first { $0.room == room }?.probability ?? 0
    }
}
