import CMath
import IndoorVocabulary

/// A position solver for transmitters at known positions: robust nonlinear least squares on RSSI or on distances.
///
/// The solver uses Levenberg–Marquardt on r = P − 10·n·log₁₀ d, or on measured distances d, with Huber weights. Sources: D. W. Marquardt, *An
/// Algorithm for Least-Squares Estimation of Nonlinear Parameters*, 1963; P. J. Huber, *Robust Estimation of a Location
/// Parameter*, 1964.
public struct Trilateration: Sendable {
    /// The reading of a beacon with a known position.
    public struct Reading: Hashable, Sendable {
        /// Position of the beacon.
        public var point: MapPoint
        /// Height difference between beacon and device in metres.
        public var height: Double
        /// Signal strength at 1 m in dBm.
        public var power: Double
        /// Path-loss exponent.
        public var exponent: Double
        /// Measured RSSI in dBm.
        public var rssi: Double
        /// Standard deviation of the RSSI in dB, above 0.
        public var deviation: Double

        /// Creates a reading.
        public init(
            point: MapPoint, height: Double = 1, power: Double, exponent: Double = 2, rssi: Double,
            deviation: Double = 5
        ) {
            self.point = point
            self.height = height
            self.power = power
            self.exponent = exponent
            self.rssi = rssi
            self.deviation = deviation
        }
    }

    /// A measured distance to an anchor with a known position.
    struct Distance: Hashable, Sendable {
        /// Position of the anchor.
        var point: MapPoint
        /// Height of the anchor above the device in metres.
        var heightDifference: Double
        /// Measured distance in space in metres.
        var distance: Double
        /// Standard deviation of the distance in metres, above 0.
        var deviation: Double
    }

    /// A position with its uncertainty.
    public struct Solution: Hashable, Sendable {
        /// The position with the smallest residuals.
        public var point: MapPoint
        /// Variance of x in m².
        public var varianceX: Double
        /// Variance of y in m².
        public var varianceY: Double
        /// Covariance of x and y in m².
        public var covariance: Double

        /// The 68 % error radius in metres around `point`, if the errors are normal.
        public var radius: Double { 1.07 * (varianceX + varianceY).squareRoot() }
    }

    /// Number of standard deviations beyond which a residual contributes linearly instead of quadratically.
    private static let huber = 1.5
    private static let iterations = 50
    /// Number of starting points along each side of the plan, for distances. Distances to few anchors have several
    /// minima, and a robust cost has more of them.
    private static let startsPerSide = 24

    /// The normal equations of one linearization.
    private struct Normal {
        var xx = 0.0
        var xy = 0.0
        var yy = 0.0
        var x = 0.0
        var y = 0.0
        var cost = 0.0
    }

    /// Returns the position; nil with fewer than three readings, or if they don't determine both coordinates.
    ///
    /// - Parameter readings: at least three, of beacons that aren't all on one line.
    public static func solve(_ readings: [Reading]) -> Solution? {
        guard readings.count >= 3, spanPlane(readings) else { return nil }
        return descend(readings, from: start(readings))
    }

    /// Returns the position within a rectangle that best fits some distances; nil with fewer than three distances, or if
    /// they don't determine both coordinates.
    ///
    /// The search begins at the best point of a lattice over the rectangle.
    static func solve(_ distances: [Distance], from origin: MapPoint, to corner: MapPoint) -> Solution? {
        guard distances.count >= 3, spanPlane(distances) else { return nil }
        let step = (corner - origin) * (1 / Double(startsPerSide))
        var best: (point: MapPoint, cost: Double)?
        for row in 0..<startsPerSide {
            for column in 0..<startsPerSide {
                let point = origin + MapPoint(x: step.x * (Double(column) + 0.5), y: step.y * (Double(row) + 0.5))
                let cost = linearize(distances, at: point).cost
                if cost < best?.cost ?? .infinity { best = (point, cost) }
            }
        }
        return best.flatMap { descend(distances, from: $0.point) }
    }

    private static func descend(_ readings: [some TrilaterationTerm], from start: MapPoint) -> Solution? {
        var point = start
        var damping = 1e-2
        var normal = linearize(readings, at: point)
        for _ in 0..<iterations {
            let (xx, yy) = (normal.xx * (1 + damping), normal.yy * (1 + damping))
            let determinant = xx * yy - normal.xy * normal.xy
            guard determinant > 0, determinant.isFinite else { return nil }
            let step = MapPoint(
                x: (yy * normal.x - normal.xy * normal.y) / determinant,
                y: (xx * normal.y - normal.xy * normal.x) / determinant)
            let candidate = linearize(readings, at: point + step)
            if candidate.cost <= normal.cost {
                point = point + step
                normal = candidate
                damping = max(damping / 5, 1e-9)
                if abs(step.x) + abs(step.y) < 1e-6 { break }
            } else {
                damping *= 5
                if damping > 1e9 { break }
            }
        }
        return solution(normal, point, count: readings.count)
    }

    /// Returns whether the beacons are not collinear; with collinear beacons, positions on both sides of the line give
    /// the same readings.
    private static func spanPlane(_ readings: [some TrilaterationTerm]) -> Bool {
        let mean = readings.reduce(MapPoint(x: 0, y: 0)) { $0 + $1.point } * (1 / Double(readings.count))
        var (xx, xy, yy) = (0.0, 0.0, 0.0)
        for reading in readings {
            let offset = reading.point - mean
            xx += offset.x * offset.x
            xy += offset.x * offset.y
            yy += offset.y * offset.y
        }
        // The standard deviation across the line is at least a thousandth of that along it.
        return xx * yy - xy * xy > 1e-6 * (xx + yy) * (xx + yy)
    }

    /// Returns the solution with its covariance. The covariance follows from the readings' variances and is scaled up
    /// if the residuals exceed them. Source: R. T. Birge, *The Calculation of Errors by the Method of Least Squares*,
    /// Physical Review 40, 1932.
    private static func solution(_ normal: Normal, _ point: MapPoint, count: Int) -> Solution? {
        let determinant = normal.xx * normal.yy - normal.xy * normal.xy
        // The matrix is nearly singular: the beacons and the position are almost collinear, so the mirrored position
        // fits equally well.
        guard determinant > 1e-9 * normal.xx * normal.yy, point.x.isFinite, point.y.isFinite else { return nil }
        let disagreement = max(1, normal.cost / Double(max(1, count - 2)))
        return Solution(
            point: point, varianceX: disagreement * normal.yy / determinant,
            varianceY: disagreement * normal.xx / determinant, covariance: -disagreement * normal.xy / determinant)
    }

    /// Returns the mean of the beacons' positions, weighted by amplitude.
    private static func start(_ readings: [Reading]) -> MapPoint {
        let strongest = readings.map { $0.rssi - $0.power }.max() ?? 0
        var sum = MapPoint(x: 0, y: 0)
        var total = 0.0
        for reading in readings {
            let weight = cmath_pow(10, (reading.rssi - reading.power - strongest) / 20)
            sum = sum + reading.point * weight
            total += weight
        }
        return sum * (1 / total)
    }

    private static func linearize(_ readings: [some TrilaterationTerm], at point: MapPoint) -> Normal {
        var normal = Normal()
        for reading in readings {
            let offset = point - reading.point
            let (residual, slope) = reading.residual(squaredDistance: offset.x * offset.x + offset.y * offset.y)
            let size = abs(residual)
            let weight = size <= huber ? 1 : huber / size
            normal.cost += size <= huber ? residual * residual : 2 * huber * size - huber * huber
            normal.xx += weight * slope * slope * offset.x * offset.x
            normal.xy += weight * slope * slope * offset.x * offset.y
            normal.yy += weight * slope * slope * offset.y * offset.y
            normal.x += weight * slope * offset.x * residual
            normal.y += weight * slope * offset.y * residual
        }
        return normal
    }
}

/// A measurement of a transmitter at a known position.
private protocol TrilaterationTerm {
    var point: MapPoint { get }
    /// Returns the measured minus the expected value, in standard deviations, at a squared horizontal distance in m²; and
    /// the slope of the expected value along the horizontal offset, divided by the offset.
    func residual(squaredDistance: Double) -> (value: Double, slope: Double)
}

extension Trilateration.Reading: TrilaterationTerm {
    fileprivate func residual(squaredDistance: Double) -> (value: Double, slope: Double) {
        let square = squaredDistance + max(height * height, 0.01)
        let residual = (rssi - power + 5 * exponent * cmath_log10(square)) / deviation
        return (residual, -10 * exponent / cmath_log(10) / square / deviation)
    }
}

extension Trilateration.Distance: TrilaterationTerm {
    fileprivate func residual(squaredDistance: Double) -> (value: Double, slope: Double) {
        let length = (squaredDistance + max(heightDifference * heightDifference, 0.01)).squareRoot()
        return ((distance - length) / deviation, 1 / length / deviation)
    }
}

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
    /// Whether the estimate is the mean of the posterior.
    private var isFromPosterior = false

    /// Returns the position on a map; nil without an estimate.
    func place(mapIndex: Int) -> Place? { places.indices.contains(mapIndex) ? places[mapIndex] : nil }

    /// Computes the mean of the grid posterior.
    mutating func estimateByFingerprint(
        _ evidence: Evidence, field: SignalField, receivers: [ReceiverOffset], ranges: RangeLikelihood?
    ) {
        posterior.weigh(Likelihood(field: field, evidence: evidence, receivers: receivers, ranges: ranges))
        isFromPosterior = true
        probabilities = posterior.mapProbabilities
        places = field.maps.indices.map { mapIndex in
            posterior.moments(mapIndex: mapIndex, field: field).map { Place(point: $0.mean, variance: $0.variance) }
        }
    }

    /// Computes a robust least-squares solution from the distances to the anchors of each map, or with too few of them, from
    /// the RSSI of its beacons; with too few beacons, the mean position of both, weighted by amplitude.
    ///
    /// - Parameter distances: the measured distances by map.
    mutating func estimateByTrilateration(
        _ evidence: Evidence, field: SignalField, distances: [[Trilateration.Distance]]
    ) {
        isFromPosterior = false
        var shares: [Double] = []
        places = field.maps.enumerated().map { mapIndex, map in
            var readings: [Trilateration.Reading] = []
            for heard in evidence.heard {
                let beacon = field.transmitters[heard.beacon]
                guard beacon.mapID == map.mapID else { continue }
                readings.append(
                    Trilateration.Reading(
                        point: beacon.point, height: field.model.heightDifference, power: beacon.power,
                        exponent: beacon.exponent, rssi: Double(heard.rssi), deviation: field.pathLossDeviation))
            }
            let measured = distances.indices.contains(mapIndex) ? distances[mapIndex] : []
            // An amplitude is the reciprocal of a distance.
            let amplitudes =
                readings.map { cmath_pow(10, ($0.rssi - $0.power) / 20) } + measured.map { 1 / max($0.distance, 0.1) }
            let sum = amplitudes.reduce(0, +)
            shares.append(sum)
            guard sum > 0 else { return nil }
            let grid = map.grid
            let size = MapPoint(x: Double(grid.columns), y: Double(grid.rows)) * grid.cellSize
            let solutions = [
                Trilateration.solve(measured, from: grid.origin, to: grid.origin + size), Trilateration.solve(readings),
            ]
            if let solution = solutions.lazy.compactMap(\.self).first(where: { grid.cell(at: $0.point) != nil }) {
                return Place(point: solution.point, variance: solution.varianceX + solution.varianceY)
            }
            let points = readings.map(\.point) + measured.map(\.point)
            let center = zip(points, amplitudes).reduce(MapPoint(x: 0, y: 0)) { $0 + $1.0 * ($1.1 / sum) }
            return Place(point: center, variance: 2 / (sum * sum) + 1)
        }
        let total = shares.reduce(0, +)
        probabilities = total > 0 ? shares.map { $0 / total } : []
    }

    /// Returns the weight of each cell of a map: its probability in the posterior, or that of a normal distribution about
    /// the position. Empty without an estimate.
    func cellWeights(mapIndex: Int, grid: MapGrid) -> [Float] {
        guard let place = place(mapIndex: mapIndex) else { return [] }
        if isFromPosterior { return posterior.cellWeights(mapIndex: mapIndex) }
        // Half of the sum of both variances, and that of the unknown point within the cell.
        let variance = place.variance / 2 + grid.cellSize * grid.cellSize / 12
        return (0..<grid.count).map { cell in
            let offset = grid.center(of: cell) - place.point
            return Float(cmath_exp(-(offset.x * offset.x + offset.y * offset.y) / (2 * variance)))
        }
    }
}
