import IndoorVocabulary

/// Where a device was during a recording, with all of the recording's evidence.
public struct SmoothedTrack: Sendable {
    /// The place at one instant.
    public struct Look: Hashable, Sendable {
        /// When.
        public var instant: Instant
        /// The most probable map.
        public var mapID: MapID
        /// How probable that map is, in [0, 1].
        public var probability: Double
        /// Where on that map, with a radius of 68 %.
        public var estimate: PositioningEngine.Estimate
    }

    /// Ordered by instant, half a second apart where readings were.
    public let looks: [Look]

    /// Without a reading for longer than this, in seconds, nothing is told until the next.
    static let longestGap = 600.0

    /// The place at an instant: between two looks on one map it is interpolated, between two maps the nearer look counts.
    ///
    /// Nil before the first look, after the last, and in a silence of more than ten minutes.
    public func look(at instant: Instant) -> Look? {
        guard let first = looks.first, let last = looks.last, instant >= first.instant, instant <= last.instant else {
            return nil
        }
        var low = 0
        var high = looks.count - 1
        while high - low > 1 {
            let middle = (low + high) / 2
            if looks[middle].instant <= instant { low = middle } else { high = middle }
        }
        let (before, after) = (looks[low], looks[high])
        let span = before.instant.duration(to: after.instant).seconds
        if instant == before.instant { return before }
        if instant == after.instant { return after }
        guard span <= Self.longestGap else { return nil }
        let share = span > 0 ? before.instant.duration(to: instant).seconds / span : 0
        var look = share < 0.5 ? before : after
        look.instant = instant
        guard before.mapID == after.mapID else { return look }
        let (from, to) = (before.estimate, after.estimate)
        look.probability = before.probability + (after.probability - before.probability) * share
        look.estimate.point = from.point + (to.point - from.point) * share
        look.estimate.radius = from.radius + (to.radius - from.radius) * share
        return look
    }
}
