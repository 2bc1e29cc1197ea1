import CMath
import IndoorVocabulary
import VenueModel

/// A function that combines the belief from the past readings with the belief from the future readings.
///
/// Both beliefs contain a prior that is uniform over the map, so their product need not be divided by the prior. Each
/// belief is a set of particles, which represents a sum of normal distributions around them. The product is also such a
/// sum, with a term for each pair. Source: E. B. Sudderth, A. T. Ihler, W. T. Freeman, A. S. Willsky, *Nonparametric
/// Belief Propagation*, CVPR 2003; the bandwidth: B. W. Silverman, *Density Estimation for Statistics and Data
/// Analysis*, 1986, section 4.3.
struct BeliefFusion {
    /// The fused belief about one map.
    struct MapBelief: Sendable {
        /// Index in the field.
        var index: Int
        /// The probability of the map, up to a common factor.
        var probability: Double
        /// Mean position, given that the device is on the map.
        var point: MapPoint
        /// Sum of the variances along both axes in m².
        var variance: Double
    }

    /// The walls of each map in the field's order.
    let walls: [WallIndex]

    /// Distance between two particles, in bandwidths, above which the pair is ignored.
    private static let reach = 3.5
    /// Bounds of the bandwidth in metres: a particle represents an area, but separate modes must not merge.
    private static let narrowest = 0.25
    private static let widest = 1.2
    /// Share of the variance reduction that is discarded: the same walls distort the readings before and after the
    /// instant.
    private static let shared = 0.25
    /// Density in 1/m² of a uniform distribution over the map, for a belief that has lost the device.
    private static let anywhere = 1e-5

    /// Returns the fused beliefs of the maps that both samples contain; if one sample is empty, the beliefs of the
    /// other.
    func callAsFunction(_ past: BeliefSample, _ future: BeliefSample) -> [MapBelief] {
        if past.maps.isEmpty { return future.maps.map(Self.alone) }
        if future.maps.isEmpty { return past.maps.map(Self.alone) }
        var maps: [MapBelief] = []
        for before in past.maps {
            guard let after = future.maps.first(where: { $0.index == before.index }) else { continue }
            maps.append(product(before, after))
        }
        return maps.isEmpty ? past.maps.map(Self.alone) : maps
    }

    private static func alone(_ map: BeliefSample.MapBelief) -> MapBelief {
        MapBelief(index: map.index, probability: map.probability, point: map.mean, variance: map.variance)
    }

    /// Weighted sums of positions.
    private struct Sums {
        var weight = 0.0
        var x = 0.0
        var y = 0.0
        var square = 0.0

        mutating func add(_ px: Float, _ py: Float, _ part: Double) {
            let (px, py) = (Double(px), Double(py))
            weight += part
            x += part * px
            y += part * py
            square += part * (px * px + py * py)
        }
    }

    private func product(_ before: BeliefSample.MapBelief, _ after: BeliefSample.MapBelief) -> MapBelief {
        let (first, second) = (Self.width(before), Self.width(after))
        // The variance of the distance between two particles of the same position.
        let total = first * first + second * second
        var sums = meetings(before, after, first: first, second: second)
        let pairs = Double(before.guesses.count * after.guesses.count)
        let density = sums.weight / pairs / (2 * .pi * total)
        let lost = Self.anywhere * 2 * .pi * total * pairs
        for a in before.guesses { sums.add(a.x, a.y, lost / 2 / Double(before.guesses.count)) }
        for b in after.guesses { sums.add(b.x, b.y, lost / 2 / Double(after.guesses.count)) }
        let mean = MapPoint(x: sums.x / sums.weight, y: sums.y / sums.weight)
        let spread = max(0, sums.square / sums.weight - mean.x * mean.x - mean.y * mean.y)
        return MapBelief(
            index: before.index, probability: before.probability * after.probability * (density + Self.anywhere),
            point: mean, variance: spread + Self.shared * max(0, min(before.variance, after.variance) - spread))
    }

    /// Sums the pairs of particles that can represent the same position; each pair is placed at the mean of the product
    /// of its two normal distributions.
    private func meetings(
        _ before: BeliefSample.MapBelief, _ after: BeliefSample.MapBelief, first: Double, second: Double
    ) -> Sums {
        let total = first * first + second * second
        let share = Float(first * first / total)
        let limit = Float(Self.reach * Self.reach * total)
        let scale = Float(-0.5 / total)
        let walls = walls[before.index]
        var sums = Sums()
        for a in before.guesses {
            for b in after.guesses {
                let (dx, dy) = (b.x - a.x, b.y - a.y)
                let distance = dx * dx + dy * dy
                guard distance < limit, !walls.blocks(fromX: a.x, y: a.y, toX: b.x, y: b.y) else { continue }
                sums.add(a.x + share * dx, a.y + share * dy, Double(cmath_expf(distance * scale)))
            }
        }
        return sums
    }

    private static func width(_ map: BeliefSample.MapBelief) -> Double {
        let wide = (map.variance / 2).squareRoot() * cmath_pow(Double(map.guesses.count), -1.0 / 6)
        return min(max(wide, narrowest), widest)
    }
}
