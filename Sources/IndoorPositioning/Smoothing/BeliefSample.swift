import IndoorVocabulary

/// An engine's belief at one instant, thinned to a few equally weighted particles on each map.
struct BeliefSample: Sendable {
    /// A particle's position.
    struct Guess: Hashable, Sendable {
        /// Metres from the plan's left edge.
        var x: Float
        /// Metres from the plan's top edge.
        var y: Float
    }

    /// The belief about one map.
    struct MapBelief: Sendable {
        /// Index in the field.
        var index: Int
        /// The probability of the map.
        var probability: Double
        /// Particles, given that the device is on the map.
        var guesses: [Guess]
        /// Mean of the belief.
        var mean: MapPoint
        /// Sum of the belief's variances along both axes in m².
        var variance: Double
    }

    /// The maps above the minimum probability; empty before any evidence.
    var maps: [MapBelief]

    /// Minimum probability of a map; less probable maps are omitted.
    private static let leastProbability = 1e-4
    /// Minimum number of particles on a map that isn't omitted.
    private static let fewest = 24

}

extension BeliefSample {
    /// Creates a sample of about `count` particles of an engine, drawn by systematic sampling.
    init(of engine: PositioningEngine, count: Int) {
        let particles = engine.filter.particles
        let probabilities = engine.floorFilter.probabilities
        maps = []
        for (index, members) in particles.members(mapCount: probabilities.count).enumerated() {
            let probability = probabilities[index]
            guard probability >= Self.leastProbability, let first = members.first,
                let moments = engine.filter.moments(mapIndex: index)
            else { continue }
            let wanted = max(Self.fewest, Int((probability * Double(count)).rounded()))
            let step = members.reduce(0) { $0 + Double(particles.weight[$1]) } / Double(wanted)
            guard step > 0 else { continue }
            var guesses: [Guess] = []
            var position = 0
            var sum = Double(particles.weight[first])
            for draw in 0..<wanted {
                let next = (Double(draw) + 0.5) * step
                while sum < next, position + 1 < members.count {
                    position += 1
                    sum += Double(particles.weight[members[position]])
                }
                guesses.append(Guess(x: particles.x[members[position]], y: particles.y[members[position]]))
            }
            maps.append(
                MapBelief(
                    index: index, probability: probability, guesses: guesses, mean: moments.mean,
                    variance: moments.variance))
        }
    }
}
