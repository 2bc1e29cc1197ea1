import IndoorVocabulary
import VenueModel

/// Solves the Gaussian process of each beacon and map, and with it what all of them share: how much a floor takes away,
/// and how much stronger or weaker each recording's receiver hears.
///
/// A reading is path loss, less the floors between, plus the shadowing of its place, plus the offset of its recording:
/// another phone, another pocket, another day. The offsets are random effects, whose variance is found by expectation and
/// maximization. Without them a survey by two phones is a map in which every place contradicts itself.
/// Source: N. M. Laird, J. H. Ware, *Random-Effects Models for Longitudinal Data*, Biometrics 38(4), 1982.
struct ShadowingRegression {
    /// What was learned.
    struct Result {
        /// By place and reading: the weight in the Gaussian process, in 1/dB.
        var weights: [[Double]]
        /// By recording: how much stronger it heard than the mean of all, in dB.
        var offsets: [Double]
        /// Standard deviation of these offsets in dB; 0 if they could not be told.
        var offsetDeviation: Double
        /// Signal lost through one floor, in dB.
        var floorLoss: Double
        /// How far readings lie from what all others of their beacon predict.
        var residuals: [Residual]
        /// Standard deviation of readings from what the others of the same recording predict, in dB; nil if there are
        /// too few.
        var spread: Double?
        /// The same from what those of other recordings predict.
        ///
        /// The offset of a recording that is of one place cannot be told from that place's own: at another one it is new.
        var deviation: Double?
    }

    /// How far a reading lies from what all others of its beacon predict.
    ///
    /// Leave-one-out residuals in closed form. Source: C. E. Rasmussen, C. K. I. Williams, *Gaussian Processes for Machine
    /// Learning*, 2006, equation 5.12.
    struct Residual {
        var place: Int
        var beacon: Int
        /// In dB.
        var value: Double
        /// The variance in dB² that the process expects of it.
        var variance: Double
    }

    /// A beacon on a map, after its process is solved for each of the effects.
    private struct Group {
        var readings: [(place: Int, reading: Int)]
        var beacon: Int
        /// Which effects the readings have: the indexes of the columns.
        var effects: [Int]
        /// K⁻¹·y, with the readings' differences y to path loss.
        var solvedReadings: [Double]
        /// K⁻¹·h of each effect's column h.
        var solvedEffects: [[Double]]
        /// The diagonal of K⁻¹; empty where residuals are not asked for.
        var precisions: [Double]
    }

    let model: SignalModel
    let beacons: [RadioMap.Beacon]
    let exponent: Double
    let floorDistance: FloorDistance
    let places: SurveyedPlaces

    /// The common mean and the floors' loss are effects of every recording.
    private static let common = 2
    /// Standard deviation of what all readings may differ from path loss, in dB: as good as unknown.
    private static let meanDeviation = 20.0
    /// How far a building's floors may differ from `SignalModel.floorLoss`, as a standard deviation in dB.
    private static let floorDeviation = 10.0
    /// The offsets' deviation before anything is learned, in dB.
    private static let firstDeviation = 3.0
    /// More recordings than this are taken as of one receiver: the normal equations are cubic in their number.
    private static let recordingLimit = 600
    /// More readings of one beacon on one map than this are thinned out before the cubic step.
    private static let readingLimit = 400
    /// Offsets that leave this share or more of the readings' deviation are taken as the building's: where walks hardly
    /// meet, each one's offset would be fitted to the walls that it passes.
    private static let worthwhile = 0.95
    /// Residuals of so many readings are enough.
    private static let residualLimit = 4000
    /// Residuals that tell no deviation if there are fewer.
    private static let fewestResiduals = 50
    /// Readings of a group that tell too little of each other if there are fewer.
    private static let smallestGroup = 8

    /// Solves the processes.
    func solve() -> Result {
        let recordings = places.sizes.count
        let telling = (2...Self.recordingLimit).contains(recordings) ? recordings : 0
        var equations = NormalEquations(count: Self.common + telling)
        let groups = groups(telling: telling, into: &equations)
        let plain = result(groups, effects(equations, 0))
        guard telling > 0 else { return plain }
        let told = result(groups, effects(equations, telling))
        guard let with = told.spread, let without = plain.spread, with < Self.worthwhile * without else { return plain }
        return told
    }

    private func groups(telling: Int, into equations: inout NormalEquations) -> [Group] {
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
                    readings, floors: floorDistance.floors(from: beacons[beacon].mapID, to: map), telling)
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

    /// How far a reading is from path loss, as if it were on the beacon's floor.
    private func difference(_ entry: (place: Int, reading: Int), _ beacon: Int) -> Double {
        let place = places.fingerprints[entry.place]
        return place.readings[entry.reading].rssi
            - model.expectedRSSI(of: beacons[beacon], exponent: exponent, at: place.point)
    }

    /// The effects that readings have, with the column of each.
    private func columns(
        _ readings: [(place: Int, reading: Int)], floors: Int, _ telling: Int
    ) -> (effects: [Int], columns: [[Double]]) {
        var effects = [0, 1]
        var columns = [readings.map { _ in 1.0 }, readings.map { _ in -Double(floors) }]
        guard telling > 0 else { return (effects, columns) }
        for recording in Set(readings.map { places.recordings[$0.place] }).sorted() {
            effects.append(Self.common + recording)
            columns.append(readings.map { places.recordings[$0.place] == recording ? 1 : 0 })
        }
        return (effects, columns)
    }

    /// The most probable effects, and the standard deviation of the recordings' offsets.
    private func effects(_ equations: NormalEquations, _ telling: Int) -> (values: [Double], deviation: Double) {
        let fixed: [(mean: Double, deviation: Double)] = [
            (0, Self.meanDeviation), (model.floorLoss, Self.floorDeviation),
        ]
        var deviation = Self.firstDeviation
        var values = fixed.map(\.mean) + [Double](repeating: 0, count: telling)
        for _ in 0..<20 {
            let priors = fixed + Array(repeating: (mean: 0, deviation: deviation), count: telling)
            guard let solution = equations.solve(priors) else { break }
            values = solution.values
            guard telling > 0 else { return (values, 0) }
            let squares = zip(values, solution.variances).dropFirst(Self.common).map { $0 * $0 + $1 }
            let next = (squares.reduce(0, +) / Double(telling)).squareRoot()
            let isSettled = abs(next - deviation) < 0.01 * deviation
            deviation = next
            if isSettled { break }
        }
        return (values, telling > 0 ? deviation : 0)
    }

    private func result(_ groups: [Group], _ effects: (values: [Double], deviation: Double)) -> Result {
        var offsets = Array(effects.values[Self.common...])
        offsets += Array(repeating: 0, count: places.sizes.count - offsets.count)
        var result = Result(
            weights: places.fingerprints.map { Array(repeating: 0, count: $0.readings.count) }, offsets: offsets,
            offsetDeviation: effects.deviation, floorLoss: max(0, effects.values[1]), residuals: [])
        for group in groups {
            var weights = group.solvedReadings
            // What all readings differ from path loss is left to the beacons' own constants.
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

    /// The deviation that makes the residuals as large as they are.
    private func spread(_ residuals: [Residual]) -> Double? {
        guard residuals.count >= Self.fewestResiduals else { return nil }
        let ratios = residuals.map { abs($0.value) / $0.variance.squareRoot() }.sorted()
        // 0.6745 is the median of the absolute value of a standard normal number.
        let stretch = ratios[ratios.count / 2] / 0.6745
        let expected = residuals.map(\.variance).reduce(0, +) / Double(residuals.count)
        let excess = (stretch * stretch - 1) * expected
        return max(0, model.surveyNoise * model.surveyNoise + excess).squareRoot()
    }
}
