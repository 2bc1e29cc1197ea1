import CMath
import IndoorVocabulary

extension ParticleFilter {
    /// Metres: no building is larger, and `Float` tells centimetres there.
    private static let farthest = 1e6
    /// Chance that a soft fix is a mistake: one of ten, such as a name plate read at the wrong door.
    private static let mistake = 0.1
    /// A guess can't be less probable than this by one fix, as an exponent.
    private static let limit = 60.0

    /// Whether a place and its uncertainty, in metres, are ones that the filter can compute with.
    package static func isWithinReach(_ point: MapPoint, _ deviation: Double) -> Bool {
        abs(point.x) <= farthest && abs(point.y) <= farthest && deviation <= farthest
    }

    /// Applies a place given from outside: a hard one draws particles to it, a soft one weighs them.
    ///
    /// A hard fix is believed: half of the map's particles are drawn from it, the others are those that it leaves
    /// probable, and the fewer the less they agree with it. A soft fix may be wrong: a guess far from it stays as probable
    /// as if it were a mistake, which lies anywhere on the map. Without particles on the map both draw all of them.
    ///
    /// A place farther than 1000 km from the map's origin, or less certain than that, tells nothing and is ignored.
    ///
    /// - Parameters:
    ///   - deviation: standard deviation along each axis, in metres, above 0.
    ///   - mapIndex: index of the map that the place is on.
    ///   - probabilities: of each map, the place taken into account; sums to 1.
    ///   - area: of the map in m², for a soft fix; nil for a hard one.
    /// - Returns: how well the belief agreed with it, and how much of that map's belief rests on it.
    @discardableResult package mutating func applyFix(
        at point: MapPoint, deviation: Double, mapIndex: Int, probabilities: [Double], area: Double? = nil
    ) -> FixReception {
        guard Self.isWithinReach(point, deviation) else { return FixReception(agreement: nil, belief: 0) }
        let there = particles.range(of: mapIndex)
        var (all, near) = (0.0, 0.0)
        for index in there {
            let weight = Double(particles.weight[index])
            all += weight
            near += weight * likeness(index, point, deviation)
        }
        let agreement = all > 0 ? near / all : nil
        guard let agreement, let area, area > 0 else {
            draw(around: point, deviation: deviation, mapIndex: mapIndex, probabilities: probabilities, agreement)
            return FixReception(agreement: agreement, belief: 1)
        }
        // Density of a place anywhere on the map, against that of the fix at its middle.
        let anywhere = min(1, 2 * .pi * deviation * deviation / area)
        for index in there {
            particles.weight[index] *= Float(
                (1 - Self.mistake) * likeness(index, point, deviation) + Self.mistake * anywhere)
        }
        setMapShares(probabilities)
        let right = (1 - Self.mistake) * agreement
        return FixReception(agreement: agreement, belief: right / (right + Self.mistake * anywhere))
    }

    /// How probable the fix is if the device is where a particle is, against where the fix is.
    private func likeness(_ index: Int, _ point: MapPoint, _ deviation: Double) -> Double {
        let (dx, dy) = (Double(particles.x[index]) - point.x, Double(particles.y[index]) - point.y)
        return cmath_exp(-min((dx * dx + dy * dy) / (2 * deviation * deviation), Self.limit))
    }

    private mutating func draw(
        around point: MapPoint, deviation: Double, mapIndex: Int, probabilities: [Double], _ agreement: Double?
    ) {
        for index in particles.range(of: mapIndex) {
            particles.weight[index] *= Float(likeness(index, point, deviation))
        }
        setAside(makingRoomFor: probabilities)
        var next = 0
        let there = spare.range(of: mapIndex)
        for (index, probability) in probabilities.enumerated() {
            let wanted = wanted(probability)
            let even = Float(probability / Double(wanted))
            guard index == mapIndex else {
                resample(spare.range(of: index), count: wanted, at: &next, mapIndex: index, weight: even)
                continue
            }
            // Of a belief that is elsewhere nothing is kept: half of it would draw the mean halfway back.
            let kept = there.isEmpty ? 0 : Int(Double(wanted) * min(0.5, agreement ?? 0))
            resample(there, count: kept, at: &next, mapIndex: mapIndex, weight: even)
            for _ in kept..<wanted {
                place(&next, around: point, deviation: deviation, mapIndex: mapIndex, weight: even)
            }
        }
        // A map without particles gets none.
        particles.resize(to: next)
    }
}
