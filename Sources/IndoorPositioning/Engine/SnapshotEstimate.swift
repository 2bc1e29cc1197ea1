import CMath
import IndoorVocabulary

/// What the last few seconds tell of the place, and nothing before them: the simple methods, to compare with.
struct SnapshotEstimate: Sendable {
    /// A place on one level.
    struct Place: Hashable, Sendable {
        var point: MapPoint
        /// Sum of the variances along both axes, in m².
        var variance: Double
    }

    /// How probable each level is, in the field's order; empty before there is any evidence.
    private(set) var probabilities: [Double] = []
    private var places: [Place?] = []
    private var posterior = GridPosterior()

    /// The place on a level; nil if nothing tells.
    func place(level: Int) -> Place? { places.indices.contains(level) ? places[level] : nil }

    /// The mean of the grid posterior.
    mutating func takeFingerprint(_ evidence: Evidence, field: SignalField, receivers: [ReceiverOffset]) {
        posterior.weigh(Likelihood(field: field, evidence: evidence, receivers: receivers))
        probabilities = posterior.levelProbabilities
        places = field.levels.indices.map { level in
            posterior.moments(level: level, field: field).map { Place(point: $0.mean, variance: $0.variance) }
        }
    }

    /// Robust least squares on the beacons of the level; with too few of them, their mean weighted by amplitude.
    mutating func takeTrilateration(_ evidence: Evidence, field: SignalField) {
        var shares: [Double] = []
        places = field.levels.map { level in
            var readings: [Trilateration.Reading] = []
            for heard in evidence.heard {
                let beacon = field.transmitters[heard.beacon]
                guard beacon.mapID == level.mapID else { continue }
                readings.append(
                    Trilateration.Reading(
                        point: beacon.point, height: field.model.heightDifference, power: beacon.power,
                        exponent: beacon.exponent, rssi: Double(heard.rssi), deviation: field.pathLossDeviation))
            }
            let amplitudes = readings.map { cmath_pow(10, ($0.rssi - $0.power) / 20) }
            let sum = amplitudes.reduce(0, +)
            shares.append(sum)
            guard sum > 0 else { return nil }
            let grid = level.grid
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
