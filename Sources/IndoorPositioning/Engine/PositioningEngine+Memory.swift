import VenueModel

extension PositioningEngine {
    /// The position on each map in the form that a session memory stores; empty before any evidence, and for methods
    /// without a filter state.
    package var places: [SessionMemory.Place] {
        guard learnedMapIndex != nil else { return [] }
        let probabilities = mapProbabilities
        return field.maps.indices.compactMap { mapIndex in
            let map = field.maps[mapIndex].mapID
            guard let probability = probabilities[map], let mean = filter.moments(mapIndex: mapIndex)?.mean,
                let spread = filter.covariance(mapIndex: mapIndex, around: mean), (spread.xx + spread.yy).isFinite
            else { return nil }
            return SessionMemory.Place(
                mapID: map, probability: min(max(probability, 0), 1), point: mean, varianceX: spread.xx,
                varianceY: spread.yy, covariance: spread.xy)
        }
    }
}
