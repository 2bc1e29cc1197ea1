import CMath

extension ParticleFilter {
    /// Metres: no building is larger, and `Float` tells centimetres there.
    private static let farthest = 1e6

    /// Whether a place and its uncertainty, in metres, are ones that the filter can compute with.
    package static func isWithinReach(_ point: MapPoint, _ deviation: Double) -> Bool {
        abs(point.x) <= farthest && abs(point.y) <= farthest && deviation <= farthest
    }

    /// Takes in a place given from outside: half of a level's particles are drawn from it, the others weighed by it.
    ///
    /// A place farther than 1000 km from the map's origin, or less certain than that, tells nothing and is ignored.
    ///
    /// - Parameters:
    ///   - deviation: standard deviation along each axis, in metres, above 0.
    ///   - level: index of the level that the place is on.
    ///   - probabilities: of each level, the place taken into account; sums to 1.
    package mutating func take(
        _ point: MapPoint, deviation: Double, level: Int, probabilities: [Double]
    ) {
        guard Self.isWithinReach(point, deviation) else { return }
        setAside(makingRoomFor: probabilities)
        var next = 0
        let there = spare.range(of: level)
        for (index, probability) in probabilities.enumerated() {
            let wanted = wanted(probability)
            let even = Float(probability / Double(wanted))
            guard index == level else {
                resample(spare.range(of: index), count: wanted, at: &next, level: index, weight: even)
                continue
            }
            for index in there {
                let (dx, dy) = (Double(spare.x[index]) - point.x, Double(spare.y[index]) - point.y)
                let exponent = (dx * dx + dy * dy) / (2 * deviation * deviation)
                spare.weight[index] *= Float(cmath_exp(-min(exponent, 60)))
            }
            let drawn = there.isEmpty ? wanted : wanted / 2
            resample(there, count: wanted - drawn, at: &next, level: level, weight: even)
            for _ in 0..<drawn { place(&next, around: point, deviation: deviation, level: level, weight: even) }
        }
        // A level without particles gets none.
        particles.resize(to: next)
    }
}
