import CMath
import IndoorVocabulary
import VenueModel

/// The most probable kind of a fault from the readings of a suspect beacon.
///
/// Each kind predicts the levels of the samples; the kind with the highest likelihood is selected. Schwarz's criterion
/// adds a cost for each free parameter.
///
/// Source: G. Schwarz, *Estimating the Dimension of a Model*, Annals of Statistics 6(2), 1978.
struct FaultDiagnosis {
    private let field: SignalField
    /// Index of the beacon in the signal field.
    private let beacon: Int
    private let samples: [BeaconRecord.Sample]
    /// The number of independent samples.
    private let count: Double
    /// Variance in dB² of a sample about a table's value, and about path loss.
    private let noise: Double
    private let pathLossVariance: Double
    /// The share of the global updates whose readings have two levels.
    private let duplicity: Double

    /// The distance in metres after which the errors of two samples are independent.
    private static let errorLength = 3.0
    /// The share of global updates with two levels above which the identity is sent by two transmitters.
    private static let doubleShare = 0.25
    /// The minimum distance in metres from a beacon: nobody holds a receiver closer.
    private static let nearest = 0.3
    /// The minimum excess in dB over the level at that distance for a fault.
    private static let leastExcess = 6.0
    /// The minimum number of independent samples that determine a place.
    private static let fewestForPlace = 4.0
    /// The approximate number of candidate places on a map.
    private static let places = 1200.0
    /// The minimum distance in metres of a moved beacon, and the minimum change of a power in dB.
    private static let leastDistance = 3.0
    private static let leastChange = 3.0

    init(_ record: BeaconRecord, field: SignalField) {
        (self.field, beacon, samples, duplicity) = (field, record.beacon, record.samples, record.duplicity)
        var way = 0.0
        for (one, next) in zip(record.samples, record.samples.dropFirst()) where one.mapIndex == next.mapIndex {
            way += cmath_hypot(Double(next.x - one.x), Double(next.y - one.y))
        }
        count = min(Double(record.samples.count), 1 + way / Self.errorLength)
        noise = field.readingDeviation * field.readingDeviation + 4
        pathLossVariance = field.pathLossDeviation * field.pathLossDeviation
    }

    /// Creates a diagnosis from independent samples.
    ///
    /// - Parameters:
    ///   - noise: the variance in dB² of a sample about a table's value.
    ///   - pathLossVariance: the variance in dB² of a sample about path loss.
    init(
        of beacon: Int, _ samples: [BeaconRecord.Sample], duplicity: Double, field: SignalField, noise: Double,
        pathLossVariance: Double
    ) {
        (self.field, self.beacon, self.samples, self.duplicity) = (field, beacon, samples, duplicity)
        (self.noise, self.pathLossVariance) = (noise, pathLossVariance)
        count = Double(samples.count)
    }

    /// Returns the most probable kind.
    ///
    /// - Parameter others: the other beacons with a fault.
    func kind(others: [Int]) -> BeaconFault.Kind {
        guard !samples.isEmpty else { return .contradictory }
        if duplicity > Self.doubleShare { return .duplicated }
        let sender = field.transmitters[beacon]
        let limit = sender.power - 10 * sender.exponent * cmath_log10(Self.nearest)
        let level = samples.reduce(0) { $0 + Double($1.level) } / Double(samples.count)
        if level - limit > Self.leastExcess { return .tooStrong(excess: level - limit) }
        return explanation(others: others).kind
    }

    /// Returns the kind that explains the samples best, and the negative logarithm of their likelihood, relative to that
    /// of perfect agreement with the field.
    func explanation(others: [Int]) -> (kind: BeaconFault.Kind, cost: Double) {
        var best = (kind: BeaconFault.Kind.contradictory, cost: unknownCost)
        func consider(_ kind: BeaconFault.Kind, _ cost: Double) { if cost < best.cost { best = (kind, cost) } }
        for other in others where other != beacon {
            consider(
                .exchanged(with: field.beacons[other]),
                cost(parameters: 0) { expected(of: other, $0) }
                    + cmath_log(Double(max(1, others.count - 1))))
        }
        let change = samples.reduce(0) { $0 + Double($1.residual) } / Double(samples.count)
        if abs(change) > Self.leastChange {
            consider(
                .powerChanged(difference: change),
                cost(parameters: 1) { sample in Double(sample.level - sample.residual) + change })
        }
        if let moved = place() { consider(moved.kind, moved.cost) }
        return best
    }

    private var unknownCost: Double {
        let density = cmath_log(Double(BeaconConsensus.faultyRange)) - cmath_log(2 * .pi * noise) / 2
        return count * density
    }

    /// Returns the negative logarithm of the likelihood of the samples, relative to that of perfect agreement.
    private func cost(parameters: Int, _ expected: (BeaconRecord.Sample) -> Double?) -> Double {
        var sum = 0.0
        for sample in samples {
            guard let level = expected(sample) else { return .infinity }
            let difference = Double(sample.level) - level
            sum += difference * difference
        }
        return sum / Double(samples.count) * count / (2 * noise)
            + Double(parameters) * cmath_log(max(count, 1)) / 2
    }

    /// Returns the expected level of a beacon at a sample's position.
    private func expected(of beacon: Int, _ sample: BeaconRecord.Sample) -> Double? {
        let map = field.maps[Int(sample.mapIndex)]
        let point = MapPoint(x: Double(sample.x), y: Double(sample.y))
        guard let table = map.tables[beacon], let cell = map.grid.cell(at: point),
            let entry = table.index(column: cell % map.grid.columns, row: cell / map.grid.columns)
        else { return nil }
        return Double(table.mean[entry])
    }

    /// Returns the place that explains the samples best by path loss.
    private func place() -> (kind: BeaconFault.Kind, cost: Double)? {
        // Near stairs, many readings come through a ceiling; the beacon's own map therefore counts twice.
        let home = field.maps.firstIndex { $0.mapID == field.transmitters[beacon].mapID }
        let counts = Dictionary(
            samples.map { (Int($0.mapIndex), Int($0.mapIndex) == home ? 2 : 1) }, uniquingKeysWith: +)
        guard count >= Self.fewestForPlace,
            let mapIndex = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key
        else { return nil }
        let here = samples.filter { Int($0.mapIndex) == mapIndex }
        let (map, sender) = (field.maps[mapIndex], field.transmitters[beacon])
        let grid = map.grid
        let stride = max(1, Int((Double(grid.count) / Self.places).squareRoot().rounded(.up)))
        let variance = pathLossVariance
        let height = field.model.heightDifference * field.model.heightDifference
        let slope = 5 * sender.exponent
        let share = count / Double(samples.count)
        var (all, x, y, squares, best) = (0.0, 0.0, 0.0, 0.0, Double.infinity)
        for row in Swift.stride(from: stride / 2, to: grid.rows, by: stride) {
            for column in Swift.stride(from: stride / 2, to: grid.columns, by: stride) {
                let center = grid.center(of: row * grid.columns + column)
                var sum = 0.0
                for sample in here {
                    let (dx, dy) = (Double(sample.x) - center.x, Double(sample.y) - center.y)
                    let expected = sender.power - slope * cmath_log10(dx * dx + dy * dy + height)
                    let difference = Double(sample.level) - expected
                    sum += difference * difference
                }
                let cost = sum * share / (2 * variance)
                best = min(best, cost)
                let weight = cmath_exp(-min(cost, 500))
                all += weight
                x += weight * center.x
                y += weight * center.y
                squares += weight * (center.x * center.x + center.y * center.y)
            }
        }
        guard all > 0 else { return nil }
        let point = MapPoint(x: x / all, y: y / all)
        let spread = max(0, squares / all - point.x * point.x - point.y * point.y) / 2
        let isHome = sender.mapID == map.mapID
        let distance = isHome ? sender.point.distance(to: point) : nil
        let deviation = (spread + grid.cellSize * grid.cellSize).squareRoot()
        guard distance.map({ $0 >= max(Self.leastDistance, deviation) }) ?? true else { return nil }
        let kind = BeaconFault.Kind.moved(
            place: BeaconFault.Place(mapID: map.mapID, point: point, deviation: deviation), distance: distance)
        // The path-loss law predicts a sample with a larger variance than a table does; add the cost of that variance.
        let width = cmath_log(variance / noise) / 2 * count
        return (kind, best + width + cmath_log(max(count, 1)))
    }
}
