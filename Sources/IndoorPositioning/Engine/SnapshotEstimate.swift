import CMath
import IndoorVocabulary

/// A position estimate from the last seconds' readings alone, for the methods without a filter.
struct SnapshotEstimate: Sendable {
    /// A position on one map.
    struct Place: Hashable, Sendable {
        var point: MapPoint
        /// Sum of the variances along both axes, in m².
        var variance: Double
    }

    /// The probability of each map, in the field's order; empty before any evidence.
    private(set) var probabilities: [Double] = []
    private var places: [Place?] = []
    private var posterior = GridPosterior()

    /// Returns the position on a map; nil without an estimate.
    func place(mapIndex: Int) -> Place? { places.indices.contains(mapIndex) ? places[mapIndex] : nil }

    /// Computes the mean of the grid posterior.
    mutating func estimateByFingerprint(
        _ evidence: Evidence, field: SignalField, receivers: [ReceiverOffset], ranges: RangeLikelihood?
    ) {
        posterior.weigh(Likelihood(field: field, evidence: evidence, receivers: receivers, ranges: ranges))
        probabilities = posterior.mapProbabilities
        places = field.maps.indices.map { mapIndex in
            posterior.moments(mapIndex: mapIndex, field: field).map { Place(point: $0.mean, variance: $0.variance) }
        }
    }

    /// Computes a robust least-squares solution from the beacons of each map; with too few beacons, their mean position
    /// weighted by amplitude.
    mutating func estimateByTrilateration(_ evidence: Evidence, field: SignalField) {
        var shares: [Double] = []
        places = field.maps.map { map in
            var readings: [Trilateration.Reading] = []
            for heard in evidence.heard {
                let beacon = field.transmitters[heard.beacon]
                guard beacon.mapID == map.mapID else { continue }
                readings.append(
                    Trilateration.Reading(
                        point: beacon.point, height: field.model.heightDifference, power: beacon.power,
                        exponent: beacon.exponent, rssi: Double(heard.rssi), deviation: field.pathLossDeviation))
            }
            let amplitudes = readings.map { cmath_pow(10, ($0.rssi - $0.power) / 20) }
            let sum = amplitudes.reduce(0, +)
            shares.append(sum)
            guard sum > 0 else { return nil }
            let grid = map.grid
            if let solution = Trilateration.solve(readings), grid.cell(at: solution.point) != nil {
                return Place(point: solution.point, variance: solution.varianceX + solution.varianceY)
            }
            let center = zip(readings, amplitudes).reduce(MapPoint(x: 0, y: 0)) { $0 + $1.0.point * ($1.1 / sum) }
            return Place(point: center, variance: 2 / (sum * sum) + 1)
        }
        let total = shares.reduce(0, +)
        probabilities = total > 0 ? shares.map { $0 / total } : []
    }
}
