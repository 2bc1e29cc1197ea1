import CMath
import IndoorVocabulary

/// A prior from the position that an earlier session saved; its uncertainty increases with its age.
///
/// With probability `trust`, the device moved on from the saved position: the position spreads like that of a walker
/// who keeps a velocity for a while and sometimes stops, and the floor probabilities spread as in `FloorFilter`.
/// Otherwise, the device was carried elsewhere in the meantime, and the prior is uniform over the venue. The evidence
/// weighs both cases: the first global update removes the influence of a wrong memory.
///
/// Source of the spread: G. E. Uhlenbeck, L. S. Ornstein, *On the Theory of the Brownian Motion*, Physical Review 36,
/// 1930.
package struct RestoredPlace: Hashable, Sendable {
    /// The saved position on each map.
    package var places: [SessionMemory.Place]
    /// The time of the saved position in the session's time; it lies before the session's start.
    package var instant: Instant
    /// The age at which the memory expires.
    package var timeout: Duration

    /// Probability that the device was carried elsewhere even if the memory is recent: one restart in ten.
    private static let mistake = 0.1

    package init(places: [SessionMemory.Place], instant: Instant, timeout: Duration) {
        self.places = places
        self.instant = instant
        self.timeout = timeout
    }

    /// Returns the probability that the device moved on from the saved position, in [0, 1). It falls linearly with the
    /// age and reaches 0 at the timeout.
    package func trust(at now: Instant) -> Double {
        let age = max(.zero, instant.duration(to: now))
        guard timeout > .zero, age < timeout else { return 0 }
        return (1 - Self.mistake) * (1 - age.seconds / timeout.seconds)
    }

    /// Returns the variance in m² along each axis that motion adds within some seconds.
    package static func spread(after seconds: Double, motion: MotionModel) -> Double {
        let rates = motion.startRate + motion.stopRate
        let walking = rates > 0 ? motion.startRate / rates : 0
        // The mean time until a change of velocity, by a turn or a stop.
        let time = 1 / (1 / max(motion.velocityTime, 1e-6) + motion.turnRate + motion.stopRate)
        let keep = time > 0 ? time * (1 - cmath_exp(-seconds / time)) : 0
        let walked = 2 * motion.walkingSpeed * motion.walkingSpeed * time * max(0, seconds - keep)
        let wandered = motion.walkingWander * motion.walkingWander * seconds
        return walking * (walked + wandered) + (1 - walking) * motion.standingWander * motion.standingWander * seconds
    }

    /// Returns the probability of each of `maps` if the device moved on from the saved position; sums to 1. Nil if the
    /// saved position is on none of the maps.
    package func probabilities(of maps: [MapID], at now: Instant) -> [Double]? {
        let known = maps.map { map in places.reduce(0) { $0 + ($1.mapID == map ? max(0, $1.probability) : 0) } }
        let sum = known.reduce(0, +)
        guard sum > 0, sum.isFinite else { return nil }
        let count = Double(maps.count)
        let keep = FloorFilter.memory(after: max(.zero, instant.duration(to: now)).seconds, floorCount: maps.count)
        return known.map { 1 / count + ($0 / sum - 1 / count) * keep }
    }
}

extension FloorFilter {
    /// Returns the share of the floor information that remains after some seconds without evidence, in [0, 1].
    static func memory(after seconds: Double, floorCount: Int) -> Double {
        guard floorCount > 1 else { return 1 }
        return cmath_exp(-forgetting * seconds * Double(floorCount) / Double(floorCount - 1))
    }
}
