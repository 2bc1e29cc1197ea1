import IndoorVocabulary

/// The track of a device during a recording, estimated from all of the recording's readings.
public struct SmoothedTrack: Sendable {
    /// The estimated position at one instant.
    public struct Look: Hashable, Sendable {
        /// The instant of the estimate.
        public var instant: Instant
        /// The most probable map.
        public var mapID: MapID
        /// The probability of the map, in [0, 1].
        public var probability: Double
        /// The position on the map, with its 68 % radius.
        public var estimate: PositioningEngine.Estimate
    }

    /// The estimates, ordered by instant and half a second apart while there are readings.
    public let looks: [Look]

    /// Maximum gap in seconds between readings in which the track is interpolated.
    static let longestGap = 600.0

    /// Returns the position at an instant, interpolated between two estimates on one map. Between estimates on two
    /// maps, it returns the nearer estimate in time.
    ///
    /// The result is nil before the first estimate, after the last one, and in a gap of more than ten minutes.
    public func look(at instant: Instant) -> Look? {
        guard let first = looks.first, let last = looks.last, instant >= first.instant, instant <= last.instant else {
            return nil
        }
        let high = looks.count > 1 ? (1..<(looks.count - 1)).bisection { looks[$0].instant > instant } : 0
        let (before, after) = (looks[max(high - 1, 0)], looks[high])
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
