import IndoorVocabulary

/// Which room the device may be in, and how likely it is.
public struct RoomEstimate: Hashable, Sendable {
    /// A room, or none of the trained ones, with its probability.
    public struct Candidate: Hashable, Sendable {
        /// The room's name; nil for none of the trained rooms.
        public var room: String?
        /// How likely it is; in [0, 1].
        public var probability: Double

        /// Creates a candidate.
        public init(room: String?, probability: Double) {
            self.room = room
            self.probability = probability
        }
    }

    /// When the scan was made.
    public var instant: Instant
    /// All candidates, the most probable first; their probabilities add up to 1.
    public let candidates: [Candidate]

    /// Creates an estimate; of equally probable candidates, the first one given stays first.
    ///
    /// Returns nil without candidates.
    public init?(instant: Instant, candidates: [Candidate]) {
        guard !candidates.isEmpty else { return nil }
        self.instant = instant
        let order = candidates.indices.sorted { left, right in
            (-candidates[left].probability, left) < (-candidates[right].probability, right)
        }
        self.candidates = order.map { candidates[$0] }
    }

    /// The most probable room; nil if none of the trained ones is more probable than each of them.
    public var room: String? { candidates[0].room }
    /// How likely `room` is, or that it is none of the trained ones; in [0, 1].
    public var probability: Double { candidates[0].probability }

    /// How likely a room is; 0 for one that was not trained.
    public func probability(of room: String?) -> Double {
        candidates.first { $0.room == room }?.probability ?? 0
    }
}
