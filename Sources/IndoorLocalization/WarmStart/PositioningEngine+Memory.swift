extension PositioningEngine {
    /// Where the device is, map by map, as a memory keeps it; empty before any evidence, and for the methods without
    /// memory.
    package var places: [SessionMemory.Place] {
        guard learnedLevel != nil else { return [] }
        let probabilities = mapProbabilities
        return field.levels.indices.compactMap { level in
            let map = field.levels[level].mapID
            guard let probability = probabilities[map], let spread = filter.spread(level: level) else { return nil }
            return SessionMemory.Place(
                mapID: map, probability: min(max(probability, 0), 1), point: spread.mean, varianceX: spread.x,
                varianceY: spread.y, covariance: spread.mixed)
        }
    }
}

extension ParticleFilter {
    /// Mean, variances and covariance of a level's particles; nil without any that weigh something.
    func spread(level: Int) -> (mean: MapPoint, x: Double, y: Double, mixed: Double)? {
        guard let mean = moments(level: level)?.mean else { return nil }
        var (weight, x, y, mixed) = (0.0, 0.0, 0.0, 0.0)
        for index in particles.range(of: level) {
            let share = Double(particles.weight[index])
            let (dx, dy) = (Double(particles.x[index]) - mean.x, Double(particles.y[index]) - mean.y)
            weight += share
            x += share * dx * dx
            y += share * dy * dy
            mixed += share * dx * dy
        }
        guard weight > 0, (x + y).isFinite else { return nil }
        return (mean, x / weight, y / weight, mixed / weight)
    }
}
