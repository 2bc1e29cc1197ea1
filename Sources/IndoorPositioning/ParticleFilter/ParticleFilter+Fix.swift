import CMath
import IndoorVocabulary

extension ParticleFilter {
    /// Largest coordinate in metres: no building is larger, and `Float` still resolves centimetres.
    private static let farthest = 1e6
    /// Probability that a soft fix is wrong: one in ten, such as a name plate read at the wrong door.
    private static let mistake = 0.1
    /// Largest negative exponent by which one fix reduces a particle's weight.
    private static let limit = 60.0

    /// Returns whether a position and its uncertainty, in metres, are within the numeric range of the filter.
    package static func isWithinReach(_ point: MapPoint, _ deviation: Double) -> Bool {
        abs(point.x) <= farthest && abs(point.y) <= farthest && deviation <= farthest
    }

    /// Applies an external position fix: a hard fix draws new particles, a soft fix weighs the existing ones.
    ///
    /// A hard fix is trusted. At least half of the map's particles are drawn from it. The others are resampled from the
    /// existing particles, and fewer of them are kept if they disagree with the fix. A soft fix can be wrong: a
    /// particle far from it keeps the probability that the fix is an error, which is uniform over the map. If the map
    /// has no particles, either kind of fix draws all of them.
    ///
    /// The filter ignores a fix that is farther than 1000 km from the map's origin or less certain than that.
    ///
    /// - Parameters:
    ///   - deviation: standard deviation along each axis, in metres, above 0.
    ///   - mapIndex: index of the fix's map.
    ///   - probabilities: the probability of each map given the fix; sums to 1.
    ///   - area: the area of the map in m² for a soft fix; nil for a hard one.
    /// - Returns: the agreement of the belief with the fix, and the share of the map's belief that relies on the fix.
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
        // Density of the uniform distribution over the map, relative to that of the fix at its center.
        let anywhere = min(1, 2 * .pi * deviation * deviation / area)
        for index in there {
            particles.weight[index] *= Float(
                (1 - Self.mistake) * likeness(index, point, deviation) + Self.mistake * anywhere)
        }
        setMapShares(probabilities)
        let right = (1 - Self.mistake) * agreement
        return FixReception(agreement: agreement, belief: right / (right + Self.mistake * anywhere))
    }

    /// Returns the likelihood of the fix at a particle's position, relative to that at the position of the fix.
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
        let there = workspace.spare.range(of: mapIndex)
        for (index, probability) in probabilities.enumerated() {
            let wanted = wanted(probability)
            let even = Float(probability / Double(wanted))
            guard index == mapIndex else {
                resample(workspace.spare.range(of: index), count: wanted, at: &next, mapIndex: index, weight: even)
                continue
            }
            // A belief elsewhere is discarded; keeping half of it would move the mean halfway back.
            let kept = there.isEmpty ? 0 : Int(Double(wanted) * min(0.5, agreement ?? 0))
            resample(there, count: kept, at: &next, mapIndex: mapIndex, weight: even)
            for _ in kept..<wanted {
                place(&next, around: point, deviation: deviation, mapIndex: mapIndex, weight: even)
            }
        }
        // A map without particles stays without particles.
        particles.resize(to: next)
        rearrangeErrors(count: next)
    }
}
