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

extension GridPosterior {
    /// Weighs the cells by a restored position: a mixture of that position and a uniform distribution over the venue.
    package mutating func weigh(_ memory: RestoredPlace, field: SignalField, motion: MotionModel, at now: Instant) {
        let trust = memory.trust(at: now)
        guard trust > 0, let shares = memory.probabilities(of: field.maps.map(\.mapID), at: now) else { return }
        let age = max(.zero, memory.instant.duration(to: now)).seconds
        let spread = RestoredPlace.spread(after: age, motion: motion)
        let densities = field.maps.enumerated().map { index, map -> RestoredDensity in
            let place = memory.places.first { $0.mapID == map.mapID }
            return RestoredDensity(place, spread: spread, share: shares[index], on: map)
        }
        let area = densities.reduce(0) { $0 + $1.area }
        for (index, density) in densities.enumerated() {
            multiply(mapIndex: index) { cell in
                Float(1 - trust + trust * area * density.value(at: field.maps[index].grid.center(of: cell)))
            }
        }
    }
}

/// The expected density of the device on a map, per m² of accessible area.
private struct RestoredDensity {
    /// The area of the map in m², with each cell weighted by the prior.
    let area: Double
    private let place: SessionMemory.Place?
    /// The inverse of the covariance.
    private let inverse: (x: Double, y: Double, mixed: Double)
    /// Normalization factor of the normal distribution.
    private let scale: Double

    /// Creates the density of a map; it is uniform if the map has no saved position, or one outside the plan.
    init(_ place: SessionMemory.Place?, spread: Double, share: Double, on map: SignalField.MapField) {
        let cell = map.grid.cellSize * map.grid.cellSize
        let prior = map.prior
        let area = prior.reduce(0.0) { $0 + Double($1) } * cell
        self.area = area
        // The lower bound is the variance of a position within a cell.
        let least = spread + cell / 12
        let (x, y, mixed) = ((place?.varianceX ?? 0) + least, (place?.varianceY ?? 0) + least, place?.covariance ?? 0)
        let determinant = max(x * y - mixed * mixed, least * least)
        inverse = (y / determinant, x / determinant, -mixed / determinant)
        var mass = 0.0
        if let place {
            for index in prior.indices {
                mass +=
                    Double(prior[index]) * cell
                    * Self.bell(place.point, inverse, map.grid.center(of: index))
            }
        }
        // With less mass, the position lies too far outside the plan for a usable density.
        let isThere = mass > 1e-9 * area
        self.place = isThere ? place : nil
        scale = isThere ? share / mass : area > 0 ? share / area : 0
    }

    func value(at point: MapPoint) -> Double { place.map { scale * Self.bell($0.point, inverse, point) } ?? scale }

    private static func bell(
        _ mean: MapPoint, _ inverse: (x: Double, y: Double, mixed: Double), _ point: MapPoint
    ) -> Double {
        let (dx, dy) = (point.x - mean.x, point.y - mean.y)
        return cmath_exp(-(inverse.x * dx * dx + 2 * inverse.mixed * dx * dy + inverse.y * dy * dy) / 2)
    }
}
