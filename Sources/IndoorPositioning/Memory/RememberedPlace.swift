import CMath
import IndoorVocabulary

/// Where the device was, as something to expect before it is heard from again: the older, the vaguer.
///
/// With chance `trust` the device has moved on from there as people do: the place spreads as that of a walker who keeps a
/// velocity for a while and stops now and then, and the floor is forgotten as the level filter forgets it. Otherwise it was
/// carried elsewhere while nobody listened, and may be anywhere in the venue. What is heard weighs both: a memory that is
/// wrong loses against it at the first look.
///
/// Source of the spread: G. E. Uhlenbeck, L. S. Ornstein, *On the Theory of the Brownian Motion*, Physical Review 36, 1930.
package struct RestoredPlace: Hashable, Sendable {
    /// The place on each map.
    package var places: [SessionMemory.Place]
    /// When the device was there, in the session's time; before it began.
    package var instant: Instant
    /// After this long the memory tells nothing.
    package var timeout: Duration

    /// Chance that even a fresh memory is of a device that was carried elsewhere: one restart of ten.
    private static let mistake = 0.1

    package init(places: [SessionMemory.Place], instant: Instant, timeout: Duration) {
        self.places = places
        self.instant = instant
        self.timeout = timeout
    }

    /// The chance that the device moved on from there, in [0, 1): it falls evenly with the age, to 0 at the timeout.
    package func trust(at now: Instant) -> Double {
        let age = max(.zero, instant.duration(to: now))
        guard timeout > .zero, age < timeout else { return 0 }
        return (1 - Self.mistake) * (1 - age.seconds / timeout.seconds)
    }

    /// The variance in m² along each axis that is added within some seconds.
    package static func spread(after seconds: Double, motion: MotionModel) -> Double {
        let rates = motion.startRate + motion.stopRate
        let walking = rates > 0 ? motion.startRate / rates : 0
        // Whoever turns or stops has another velocity afterwards.
        let time = 1 / (1 / max(motion.velocityTime, 1e-6) + motion.turnRate + motion.stopRate)
        let keep = time > 0 ? time * (1 - cmath_exp(-seconds / time)) : 0
        let walked = 2 * motion.walkingSpeed * motion.walkingSpeed * time * max(0, seconds - keep)
        let wandered = motion.walkingWander * motion.walkingWander * seconds
        return walking * (walked + wandered) + (1 - walking) * motion.standingWander * motion.standingWander * seconds
    }

    /// How probable each of `maps` is by now if the device moved on from there; sums to 1. Nil if it was on none of them.
    package func probabilities(of maps: [MapID], at now: Instant) -> [Double]? {
        let known = maps.map { map in places.reduce(0) { $0 + ($1.mapID == map ? max(0, $1.probability) : 0) } }
        let sum = known.reduce(0, +)
        guard sum > 0, sum.isFinite else { return nil }
        let count = Double(maps.count)
        let keep = LevelFilter.memory(after: max(.zero, instant.duration(to: now)).seconds, floorCount: maps.count)
        return known.map { 1 / count + ($0 / sum - 1 / count) * keep }
    }
}

extension LevelFilter {
    /// The share of what is known of the floor that is left after some seconds without any evidence, in [0, 1].
    static func memory(after seconds: Double, floorCount: Int) -> Double {
        guard floorCount > 1 else { return 1 }
        return cmath_exp(-forgetting * seconds * Double(floorCount) / Double(floorCount - 1))
    }
}
