import VenueModel

extension PositioningEngine {
    /// Where the device is, map by map, as a memory keeps it; empty before any evidence, and for the methods without
    /// memory.
    package var places: [SessionMemory.Place] {
        guard learnedLevel != nil else { return [] }
        let probabilities = mapProbabilities
        return field.levels.indices.compactMap { level in
            let map = field.levels[level].mapID
            guard let probability = probabilities[map], let mean = filter.moments(level: level)?.mean,
                let spread = filter.covariance(level: level, around: mean), (spread.xx + spread.yy).isFinite
            else { return nil }
            return SessionMemory.Place(
                mapID: map, probability: min(max(probability, 0), 1), point: mean, varianceX: spread.xx,
                varianceY: spread.yy, covariance: spread.xy)
        }
    }
}
