import IndoorVocabulary
import VenueModel

/// A regression that solves the Gaussian process of each beacon and map together with the shared effects: the
/// attenuation of a floor and the receiver offset of each recording.
///
/// A reading is path loss, minus the attenuation of the floors in between, plus the shadowing at its place, plus the
/// offset of its recording (its phone, pocket and day). The offsets are random effects; their variance is estimated by
/// expectation maximization. Without the offsets, a survey with two phones would give contradictory readings
/// everywhere. Source: N. M. Laird, J. H. Ware, *Random-Effects Models for Longitudinal Data*, Biometrics 38(4), 1982.
struct ShadowingRegression {
    /// The result of the regression.
    struct Result {
        /// The weight in the Gaussian process by place and reading, in 1/dB.
        var weights: [[Double]]
        /// The receiver offset of each recording relative to the mean of all, in dB.
        var offsets: [Double]
        /// Standard deviation of these offsets in dB; 0 if the survey doesn't determine them.
        var offsetDeviation: Double
        /// Attenuation by one floor in dB.
        var floorLoss: Double
        /// The leave-one-out residuals.
        var residuals: [Residual]
        /// Standard deviation in dB of readings from the prediction by the other readings of the same recording; nil if
        /// there are too few.
        var spread: Double?
        /// Standard deviation in dB of readings from the prediction by other recordings; nil if there are too few.
        ///
        /// The offset of a recording with a single place can't be separated from the shadowing of the place; a new
        /// recording has a different offset.
        var deviation: Double?
    }

    /// The difference between a reading and its prediction by all other readings of the beacon.
    ///
    /// Leave-one-out residuals in closed form. Source: C. E. Rasmussen, C. K. I. Williams, *Gaussian Processes for
    /// Machine Learning*, 2006, equation 5.12.
    struct Residual {
        var place: Int
        var beacon: Int
        /// Difference in dB.
        var value: Double
        /// Variance in dB² that the process predicts for the difference.
        var variance: Double
    }

    /// A beacon on a map with the solution of its process for each effect.
    private struct Group {
        var readings: [(place: Int, reading: Int)]
        var beacon: Int
        /// The indexes of the effects on the readings.
        var effects: [Int]
        /// K⁻¹·y, where y are the differences between the readings and path loss.
        var solvedReadings: [Double]
        /// K⁻¹·h of each effect's column h.
        var solvedEffects: [[Double]]
        /// The diagonal of K⁻¹; empty if the group contributes no residuals.
        var precisions: [Double]
    }

    let model: SignalModel
    let beacons: [RadioMap.Beacon]
    let exponent: Double
    let floorDistance: FloorDistance
    let places: SurveyedPlaces

    /// Number of effects that all recordings share: the common mean and the attenuation of a floor.
    private static let common = 2
    /// Prior standard deviation of the common mean in dB, large enough to be uninformative.
    private static let meanDeviation = 20.0
    /// Prior standard deviation in dB of a building's floor attenuation about `SignalModel.floorLoss`.
    private static let floorDeviation = 10.0
    /// Initial standard deviation of the offsets, in dB.
    private static let firstDeviation = 3.0
    /// Maximum number of recordings with offsets of their own: the time for the normal equations is cubic in their
    /// number. With more, all recordings are treated as made by one receiver.
    private static let recordingLimit = 600
    /// Maximum number of readings of one beacon on one map; more are thinned out, because the time is cubic in their
    /// number.
    private static let readingLimit = 400
    /// Offsets are used only if they reduce the readings' standard deviation to less than this share. Otherwise, the
    /// differences are attributed to the building: if walks hardly overlap, each offset would model the walls along its
    /// walk.
    private static let worthwhile = 0.95
    /// Maximum number of residuals used.
    private static let residualLimit = 4000
    /// Minimum number of residuals for an estimate of the standard deviation.
    private static let fewestResiduals = 50
    /// Minimum number of readings in a group for residuals.
    private static let smallestGroup = 8

    /// Returns the solution of all processes, with the recordings' offsets if they reduce the residuals enough.
    func solve() -> Result {
        let recordings = places.sizes.count
        let offsetCount = (2...Self.recordingLimit).contains(recordings) ? recordings : 0
        var equations = NormalEquations(count: Self.common + offsetCount)
        let groups = groups(offsetCount: offsetCount, into: &equations)
        let plain = result(groups, effects(equations, 0))
        guard offsetCount > 0 else { return plain }
        let withOffsets = result(groups, effects(equations, offsetCount))
        guard let with = withOffsets.spread, let without = plain.spread, with < Self.worthwhile * without else {
            return plain
        }
        return withOffsets
    }

    private func groups(offsetCount: Int, into equations: inout NormalEquations) -> [Group] {
        var byMap: [MapID: [[(place: Int, reading: Int)]]] = [:]
        for (place, fingerprint) in places.fingerprints.enumerated() {
            for (index, reading) in fingerprint.readings.enumerated() {
                byMap[fingerprint.mapID, default: Array(repeating: [], count: beacons.count)][reading.beacon]
                    .append((place, index))
            }
        }
        var groups: [Group] = []
        var residuals = 0
        let constant = model.powerDeviation * model.powerDeviation
        for (map, byBeacon) in byMap.sorted(by: { $0.key < $1.key }) {
            for (beacon, all) in byBeacon.enumerated() where !all.isEmpty {
                let readings = all.thinned(to: Self.readingLimit)
                let heard = readings.map { entry in
                    let place = places.fingerprints[entry.place]
                    return (
                        point: place.point, deviation: place.deviation, count: place.readings[entry.reading].count
                    )
                }
                guard let factor = model.covariance(of: heard, constant: constant) else { continue }
                let (effects, columns) = columns(
                    readings, floors: floorDistance.floors(from: beacons[beacon].mapID, to: map), offsetCount)
                let hasResiduals = readings.count >= Self.smallestGroup && residuals < Self.residualLimit
                let group = Group(
                    readings: readings, beacon: beacon, effects: effects,
                    solvedReadings: factor.solve(readings.map { difference($0, beacon) }),
                    solvedEffects: factor.solve(each: columns), precisions: hasResiduals ? factor.inverseDiagonal() : []
                )
                equations.add(group.effects, columns, group.solvedEffects, group.solvedReadings)
                if hasResiduals { residuals += readings.count { places.fingerprints[$0.place].deviation == 0 } }
                groups.append(group)
            }
        }
        return groups
    }

    /// Returns the difference between a reading and path loss without floors.
    private func difference(_ entry: (place: Int, reading: Int), _ beacon: Int) -> Double {
        let place = places.fingerprints[entry.place]
        return place.readings[entry.reading].rssi
            - model.expectedRSSI(of: beacons[beacon], exponent: exponent, at: place.point)
    }

    /// Returns the effects on readings, with the column of each effect.
    private func columns(
        _ readings: [(place: Int, reading: Int)], floors: Int, _ offsetCount: Int
    ) -> (effects: [Int], columns: [[Double]]) {
        var effects = [0, 1]
        var columns = [readings.map { _ in 1.0 }, readings.map { _ in -Double(floors) }]
        guard offsetCount > 0 else { return (effects, columns) }
        for recording in Set(readings.map { places.recordings[$0.place] }).sorted() {
            effects.append(Self.common + recording)
            columns.append(readings.map { places.recordings[$0.place] == recording ? 1 : 0 })
        }
        return (effects, columns)
    }

    /// Returns the most probable effects and the standard deviation of the recordings' offsets.
    private func effects(_ equations: NormalEquations, _ offsetCount: Int) -> (values: [Double], deviation: Double) {
        let fixed: [(mean: Double, deviation: Double)] = [
            (0, Self.meanDeviation), (model.floorLoss, Self.floorDeviation),
        ]
        var deviation = Self.firstDeviation
        var values = fixed.map(\.mean) + [Double](repeating: 0, count: offsetCount)
        for _ in 0..<20 {
            let priors = fixed + Array(repeating: (mean: 0, deviation: deviation), count: offsetCount)
            guard let solution = equations.solve(priors) else { break }
            values = solution.values
            guard offsetCount > 0 else { return (values, 0) }
            let squares = zip(values, solution.variances).dropFirst(Self.common).map { $0 * $0 + $1 }
            let next = (squares.reduce(0, +) / Double(offsetCount)).squareRoot()
            let isSettled = abs(next - deviation) < 0.01 * deviation
            deviation = next
            if isSettled { break }
        }
        return (values, offsetCount > 0 ? deviation : 0)
    }

    private func result(_ groups: [Group], _ effects: (values: [Double], deviation: Double)) -> Result {
        var offsets = Array(effects.values[Self.common...])
        offsets += Array(repeating: 0, count: places.sizes.count - offsets.count)
        var result = Result(
            weights: places.fingerprints.map { Array(repeating: 0, count: $0.readings.count) }, offsets: offsets,
            offsetDeviation: effects.deviation, floorLoss: max(0, effects.values[1]), residuals: [])
        for group in groups {
            var weights = group.solvedReadings
            // Without the common mean: the beacons' own constants include it.
            for (effect, column) in zip(group.effects, group.solvedEffects) where effect > 0 {
                let value = effect == 1 ? result.floorLoss : offsets[effect - Self.common]
                for index in weights.indices { weights[index] -= column[index] * value }
            }
            for (entry, weight) in zip(group.readings, weights) { result.weights[entry.place][entry.reading] = weight }
            for (index, precision) in group.precisions.enumerated()
            where places.fingerprints[group.readings[index].place].deviation == 0 {
                result.residuals.append(
                    Residual(
                        place: group.readings[index].place, beacon: group.beacon, value: weights[index] / precision,
                        variance: 1 / precision))
            }
        }
        result.spread = spread(result.residuals)
        let own = places.shareOfSingles * effects.deviation * effects.deviation
        result.deviation = result.spread.map { ($0 * $0 + own).squareRoot() }
        return result
    }

    /// Returns the standard deviation that explains the size of the residuals.
    private func spread(_ residuals: [Residual]) -> Double? {
        guard residuals.count >= Self.fewestResiduals else { return nil }
        let ratios = residuals.map { abs($0.value) / $0.variance.squareRoot() }.sorted()
        // 0.6745 is the median magnitude of a standard normal variable.
        let stretch = ratios[ratios.count / 2] / 0.6745
        let expected = residuals.map(\.variance).reduce(0, +) / Double(residuals.count)
        let excess = (stretch * stretch - 1) * expected
        return max(0, model.surveyNoise * model.surveyNoise + excess).squareRoot()
    }
}

/// The normal equations of generalized least squares, accumulated group by group.
struct NormalEquations {
    private let count: Int
    private var matrix: [Double]
    private var right: [Double]

    /// Creates the equations for `count` unknown effects.
    init(count: Int) {
        self.count = count
        matrix = Array(repeating: 0, count: count * count)
        right = Array(repeating: 0, count: count)
    }

    /// Adds a group of readings y with covariance K.
    ///
    /// - Parameters:
    ///   - effects: the indexes of the effects on these readings.
    ///   - columns: for each effect, the column h of its coefficients in the readings.
    ///   - solvedColumns: K⁻¹·h of each column.
    ///   - solvedReadings: K⁻¹·y.
    mutating func add(
        _ effects: [Int], _ columns: [[Double]], _ solvedColumns: [[Double]], _ solvedReadings: [Double]
    ) {
        for (row, column) in columns.enumerated() {
            // Skip zeros: the columns are sparse.
            let touched = column.indices.filter { column[$0] != 0 }
            for (other, solved) in solvedColumns.enumerated() {
                matrix[effects[row] * count + effects[other]] += touched.reduce(0) { $0 + column[$1] * solved[$1] }
            }
            right[effects[row]] += zip(column, solvedReadings).reduce(0) { $0 + $1.0 * $1.1 }
        }
    }

    /// Returns the most probable effects and their variances; nil if the equations are singular.
    ///
    /// - Parameter priors: mean and standard deviation of each effect before any reading. With fewer priors than
    ///   effects, the remaining effects are fixed at 0.
    func solve(_ priors: [(mean: Double, deviation: Double)]) -> (values: [Double], variances: [Double])? {
        let used = priors.count
        var matrix = (0..<used).flatMap { self.matrix[($0 * count)..<($0 * count + used)] }
        var right = Array(self.right[..<used])
        for (index, prior) in priors.enumerated() {
            let precision = 1 / max(prior.deviation * prior.deviation, 1e-6)
            matrix[index * used + index] += precision
            right[index] += prior.mean * precision
        }
        guard let factor = Cholesky(matrix, order: used) else { return nil }
        return (factor.solve(right), factor.inverseDiagonal())
    }
}

extension SignalModel {
    /// Returns the factored covariance in dB² of a beacon's readings about path loss: shadowing, a constant and noise.
    ///
    /// - Parameters:
    ///   - readings: the position of each reading, its uncertainty, and the number of sightings in the mean.
    ///   - constant: variance in dB² of the offset that all readings share.
    func covariance(of readings: [(point: MapPoint, deviation: Double, count: Int)], constant: Double) -> Cholesky? {
        let count = readings.count
        var kernel = [Double](repeating: 0, count: count * count)
        let amplitude = shadowing * shadowing
        for row in 0..<count {
            for column in 0...row {
                let distance = readings[row].point.distance(to: readings[column].point)
                kernel[row * count + column] = constant + amplitude * shadowingCorrelation(distance: distance)
            }
            kernel[row * count + row] += surveyVariance(
                count: readings[row].count, deviation: readings[row].deviation)
        }
        return Cholesky(kernel, order: count)
    }
}

/// An estimate of the body shadowing in a survey.
///
/// A body attenuates all beacons on its side equally. At each surveyed place, the residuals of the readings are modeled
/// as a common offset, a vector whose component along the direction to a beacon adds to its reading, and noise. The
/// variances of vector and noise are fitted to the products of the residuals by least squares.
struct BodyShadowing {
    /// A beacon as received at a place.
    private struct Accumulator {
        /// Direction of the beacon as a unit vector.
        var x: Double
        var y: Double
        /// Residual of the reading in dB.
        var residual: Double
    }

    /// Variance in dB² of the body-shadowing vector along each axis, at least 0.
    let body: Double
    /// Variance of the noise in dB².
    let noise: Double

    /// Minimum number of beacons at a place.
    static let fewest = 4
    /// Maximum number of places used.
    private static let placeLimit = 1000
    /// Minimum number of readings for an estimate, not counting three at each place.
    private static let smallest = 50

    /// Creates the estimate from the residuals of each place; nil if there are too few.
    init?(
        _ residuals: [ShadowingRegression.Residual], beacons: [RadioMap.Beacon], places: SurveyedPlaces
    ) {
        let byPlace = Dictionary(grouping: residuals, by: \.place).sorted { $0.key < $1.key }.prefix(Self.placeLimit)
        let heard = byPlace.map { index, residuals in
            let place = places.fingerprints[index]
            return residuals.filter { beacons[$0.beacon].mapID == place.mapID }.map { residual in
                Self.accumulator(residual, beacons[residual.beacon], at: place.point)
            }
        }.filter { $0.count >= Self.fewest }
        guard heard.reduce(0, { $0 + $1.count - 3 }) >= Self.smallest,
            let (body, noise) = Self.variances(heard)
        else { return nil }
        self.body = max(0, body)
        self.noise = max(noise, 1)
    }

    private static func accumulator(
        _ residual: ShadowingRegression.Residual, _ beacon: RadioMap.Beacon, at point: MapPoint
    ) -> Accumulator {
        let (dx, dy) = (beacon.point.x - point.x, beacon.point.y - point.y)
        let planar = (dx * dx + dy * dy).squareRoot()
        return Accumulator(
            x: planar > 0 ? dx / planar : 0, y: planar > 0 ? dy / planar : 0, residual: residual.value)
    }

    /// Fits the two variances to the products of each place's residuals, minus their mean, by least squares.
    private static func variances(_ places: [[Accumulator]]) -> (body: Double, noise: Double)? {
        var (bb, bn, nn, by, ny) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for accumulators in places {
            let count = Double(accumulators.count)
            let mean = accumulators.reduce(0) { $0 + $1.residual } / count
            let (meanX, meanY) = (
                accumulators.reduce(0) { $0 + $1.x } / count, accumulators.reduce(0) { $0 + $1.y } / count
            )
            for (row, first) in accumulators.enumerated() {
                for (column, other) in accumulators.enumerated() {
                    let product = (first.residual - mean) * (other.residual - mean)
                    let alignment = (first.x - meanX) * (other.x - meanX) + (first.y - meanY) * (other.y - meanY)
                    let own = (row == column ? 1 : 0) - 1 / count
                    bb += alignment * alignment
                    bn += alignment * own
                    nn += own * own
                    by += alignment * product
                    ny += own * product
                }
            }
        }
        let determinant = bb * nn - bn * bn
        guard determinant > 1e-9 * bb * nn else { return nil }
        return ((by * nn - ny * bn) / determinant, (ny * bb - by * bn) / determinant)
    }
}
