import CMath
import IndoorVocabulary
import VenueModel

/// The powers of a venue's beacons and the sensitivity of the receivers, with what they rest on.
///
/// A venue with these values is located without a radio map: the powers become the measured powers of its beacons, and
/// the sensitivity becomes a setting. `SelfLearning` determines them from recordings without ground truth.
package struct RadioCalibration: Hashable, Sendable {
    /// The power of a beacon.
    package struct Power: Hashable, Sendable {
        /// The beacon.
        package var beacon: BeaconIdentity
        /// The signal strength at 1 m in dBm.
        package var value: Double
        /// The standard error of the value in dB, for a right path-loss exponent.
        package var standardError: Double
        /// The number of readings.
        package var readings: Int
        /// The number of recordings with a reading.
        package var recordings: Int
        /// The number of independent readings that would determine the power equally well.
        package var effectiveReadings: Double
    }

    /// The loss of the signal through a floor or a wall.
    package struct Loss: Hashable, Sendable {
        /// The loss in dB, 0 or more.
        package var value: Double
        /// The standard error of the value in dB.
        package var standardError: Double
        /// The number of readings through floors or walls.
        package var readings: Int
    }

    /// The powers of the beacons that were received, in the venue's order.
    package var powers: [Power]
    /// The loss through a floor; nil if no beacon of another map was received.
    package var floorLoss: Loss?
    /// The loss through a wall of the plan; nil if no beacon was received through walls.
    package var wallLoss: Loss?
    /// The RSSI in dBm at which a receiver receives half of a beacon's advertisements.
    package var sensitivity: Double
    /// The standard error of the sensitivity in dB.
    package var sensitivityError: Double
    /// The width in dB of the transition around the sensitivity.
    package var sensitivityWidth: Double
    /// The number of readings that determine the sensitivity.
    package var readings: Int
    /// The number of independent detections that these readings count as.
    package var effectiveDetections: Double
    /// The number of recordings with a position.
    package var recordings: Int

    /// The maximum standard error in dB of a power that replaces the venue's: that of one independent reading. A power
    /// with a larger error hardly differs from the presumed one, as it is the mean of its posterior distribution.
    package static let largestError = 3.6

    /// The powers that are certain enough for use.
    package var usedPowers: [Power] { powers.filter { $0.standardError <= Self.largestError } }

    /// Returns the venue with these powers and without a radio map.
    package func applied(to venue: Venue) -> Venue {
        var venue = venue
        venue.radioMap = nil
        let known = Dictionary(usedPowers.map { ($0.beacon, $0.value) }, uniquingKeysWith: { first, _ in first })
        for index in venue.beacons.indices {
            guard let power = known[venue.beacons[index].identity] else { continue }
            venue.beacons[index].measuredPower = power
        }
        return venue
    }

    /// Returns the settings with this sensitivity and this loss through a floor.
    package func applied(to settings: PositioningSettings) -> PositioningSettings {
        var settings = settings
        settings.signal.sensitivity = sensitivity
        settings.signal.sensitivityWidth = sensitivityWidth
        if let floorLoss { settings.signal.floorLoss = floorLoss.value }
        if let wallLoss { settings.signal.wallLoss = wallLoss.value }
        return settings
    }

    /// The sensitivity, its width and the loss through a floor, by the keys of the settings.
    package var settings: [(key: String, value: Double)] {
        [
            ("positioning.signal.sensitivity", sensitivity),
            ("positioning.signal.sensitivityWidth", sensitivityWidth),
        ] + (floorLoss.map { [("positioning.signal.floorLoss", $0.value)] } ?? [])
            + (wallLoss.map { [("positioning.signal.wallLoss", $0.value)] } ?? [])
    }
}

/// The M step of `SelfLearning`: the powers and the sensitivity that explain the readings along uncertain tracks.
///
/// The expected RSSI of a beacon is a mean + the beacon's power + the recording's receiver offset + exponent × path loss.
/// The exponent is fixed: estimated positions are too near to or too far from the beacons in the way that confirms a wrong
/// exponent. Path loss is averaged over the normal distribution of the position, and its variance reduces the weight of
/// the reading. A robust fit with Student's t distribution: K. L. Lange, R. J. A. Little, J. M. G. Taylor, *Robust
/// Statistical Modeling Using the t Distribution*, Journal of the American Statistical Association 84, 1989.
///
/// A receiver misses weak signals, so that the received ones are stronger than the expected level on average, and the more, the
/// weaker that level is: the losses of walls and floors would appear too small. The expected error of a received level is
/// therefore subtracted. Source: T. Amemiya, *Regression Analysis when the Dependent Variable Is Truncated Normal*,
/// Econometrica 41(6), 1973.
struct CalibrationFit {
    private let venue: Venue
    private let model: SignalModel
    /// The index of each beacon in the venue.
    private let indexes: [BeaconIdentity: Int]
    private let floorDistance: FloorDistance
    /// The walls between each beacon and the points of its map; nil on a map without walls.
    private let walls: [WallCounts?]

    /// Creates a fit for a venue with the powers and the sensitivity that are presumed.
    init(venue: Venue, model: SignalModel) {
        self.venue = venue
        self.model = model
        floorDistance = FloorDistance(venue.maps)
        let crossings = Dictionary(
            venue.maps.filter { !$0.walls.isEmpty }.map { ($0.id, ($0, WallCrossings(of: $0))) },
            uniquingKeysWith: { first, _ in first })
        walls = venue.beacons.map { beacon in
            crossings[beacon.mapID].map { WallCounts(from: beacon.point, on: $0.0, $0.1) }
        }
        indexes = Dictionary(
            venue.beacons.enumerated().map { ($1.identity, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the calibration; nil if hardly any reading of the venue's beacons has a position.
    ///
    /// - Parameter recordings: the pieces of each recording.
    func calibration(of recordings: [[FingerprintCutter.Piece]]) -> RadioCalibration? {
        let (samples, others) = samples(of: recordings)
        guard samples.count >= Self.fewestSamples else { return nil }
        let pieces = recordings.joined().filter { piece in piece.readings.keys.contains { indexes[$0] != nil } }
        var levels = levels(of: samples, recordings: recordings.count, received: nil)
        var floorLoss = floorLoss(of: others, levels)
        // The sensitivity depends on the levels, and the levels of received signals on the sensitivity.
        let some = pieces.thinned(to: Self.fewerPieces).map(detections)
        for _ in 0..<Self.rounds {
            let range = sensitivity(of: some, described(levels, samples), floorLoss, wallLoss: levels.wallLoss)
            levels = self.levels(
                of: samples, recordings: recordings.count,
                received: Reception(level: range.level, width: range.width, deviation: Self.shadowing.squareRoot()))
            floorLoss = self.floorLoss(of: others, levels)
        }
        let powers = described(levels, samples)
        let range = sensitivity(
            of: pieces.thinned(to: Self.mostPieces).map(detections), powers, floorLoss, wallLoss: levels.wallLoss)
        return RadioCalibration(
            powers: powers, floorLoss: floorLoss, wallLoss: wallLoss(levels, samples), sensitivity: range.level,
            sensitivityError: range.error, sensitivityWidth: range.width, readings: range.readings,
            effectiveDetections: range.draws, recordings: recordings.count { !$0.isEmpty })
    }

    /// Minimum number of samples for a fit.
    private static let fewestSamples = 10
    /// Maximum number of pieces that determine the sensitivity, which bounds the time, and of those for a first value.
    private static let mostPieces = 4000
    private static let fewerPieces = 1000
    /// The number of times that the levels are fitted with the sensitivity.
    private static let rounds = 2

    // MARK: - Powers

    /// The readings of a beacon in a piece.
    private struct Sample {
        var recording: Int
        var beacon: Int
        /// The number of floors between the piece and the beacon.
        var floors: Int
        var count: Int
        /// The mean RSSI in dBm.
        var level: Double
        /// The mean RSSI minus what the presumed power and the path loss predict, in dB.
        var excess: Double
        /// The mean number of walls between the piece and the beacon.
        var walls: Double
        /// The variance of the path loss times the exponent, in dB², that of the number of walls, and their covariance.
        var pathVariance: Double
        var wallVariance: Double
        var covariance: Double
        /// The inverse variance of the mean RSSI.
        var precision: Double
    }

    /// The variance in dB² of shadowing and of fast fading in a mean reading.
    private static let shadowing = 25.0
    private static let fading = 6.25
    private static let fadingCap = 10
    /// The standard deviation in dB of a beacon's power from the presumed one, and of a receiver's offset.
    private static let powerDeviation = 5.0
    private static let offsetDeviation = 6.0
    /// The standard deviation in dB of the loss through a floor from the presumed one.
    private static let floorDeviation = 10.0
    /// The standard deviation in dB of the loss through a wall from the presumed one.
    private static let wallDeviation = 3.0
    /// The maximum number of floors between a piece and a beacon; more count as this.
    private static let mostFloors = 10
    /// The number of samples that count as one for a power, because those of one place share their shadowing.
    private static let sharing = 10.0
    /// The degrees of freedom of the robust fit.
    private static let freedom = 8.0
    /// The maximum number of iterations, and the change in dB below which they end.
    private static let mostIterations = 60
    private static let tolerance = 1e-4

    /// Returns the samples of beacons on the map of the piece, and those of beacons on other maps.
    private func samples(of recordings: [[FingerprintCutter.Piece]]) -> (own: [Sample], others: [Sample]) {
        var samples = (own: [Sample](), others: [Sample]())
        for (recording, pieces) in recordings.enumerated() {
            for piece in pieces {
                // The order of a dictionary differs from run to run, and sums depend on it.
                for (identity, reading) in piece.readings.sorted(by: { $0.key < $1.key }) {
                    guard let index = indexes[identity] else { continue }
                    let beacon = venue.beacons[index]
                    let exponent = beacon.pathLossExponent ?? model.pathLossExponent
                    let loss = loss(of: piece, to: index)
                    let power = beacon.measuredPower ?? model.defaultPower
                    let level = reading.sum / Double(reading.count)
                    let sample = Sample(
                        recording: recording, beacon: index,
                        floors: min(floorDistance.floors(from: beacon.mapID, to: piece.mapID), Self.mostFloors),
                        count: reading.count, level: level, excess: level - power - exponent * loss.mean,
                        walls: loss.walls, pathVariance: exponent * exponent * loss.variance,
                        wallVariance: loss.wallVariance, covariance: exponent * loss.covariance,
                        precision: 1
                            / (Self.shadowing + Self.fading / Double(min(reading.count, Self.fadingCap))))
                    if sample.floors == 0 { samples.own.append(sample) } else { samples.others.append(sample) }
                }
            }
        }
        return samples
    }

    /// Returns the path loss and the walls between a piece and a beacon; the walls of the beacon's own map count.
    private func loss(of piece: FingerprintCutter.Piece, to index: Int) -> PieceLoss {
        let beacon = venue.beacons[index]
        return PieceLoss(
            of: piece, to: beacon.point, walls: beacon.mapID == piece.mapID ? walls[index] : nil, model: model)
    }

    /// The effects on the levels, in dB: a mean, the difference of each beacon's power from the presumed one, and the offset
    /// of each recording's receiver.
    private struct Levels {
        var mean = 0.0
        var powers: [Double]
        var offsets: [Double]
        /// The loss through a wall, and the inverse of its variance.
        var wallLoss: Double
        var wallPrecision = 0.0
        /// The weight of each sample in the robust fit.
        var weights: [Double]

        /// The levels that are received; nil if all are.
        var received: Reception?

        /// Returns what the effects leave of a sample's excess, minus the error that is expected of a received level.
        ///
        /// - Parameter floorLoss: the loss through a floor in dB.
        func residual(_ sample: Sample, floorLoss: Double = 0) -> Double {
            let rest =
                sample.excess - mean - powers[sample.beacon] - offsets[sample.recording] + wallLoss * sample.walls
                + Double(sample.floors) * floorLoss
            return rest - (received?.expectedError(at: sample.level - rest) ?? 0)
        }

        /// Returns the variance in dB² of a sample's residual by the uncertainty of its place.
        func lossVariance(_ sample: Sample) -> Double {
            max(
                0,
                sample.pathVariance + wallLoss * wallLoss * sample.wallVariance - 2 * wallLoss * sample.covariance)
        }
    }

    /// Returns the weight of a sample in the robust fit.
    private static func weight(of sample: Sample, error: Double, lossVariance: Double) -> Double {
        let square = sample.precision * (error * error + lossVariance)
        return sample.precision * (freedom + 1) / (freedom + square)
    }

    /// Fits mean, powers and offsets in turn.
    private func levels(of samples: [Sample], recordings: Int, received: Reception?) -> Levels {
        var levels = Levels(
            powers: [Double](repeating: 0, count: venue.beacons.count),
            offsets: [Double](repeating: 0, count: recordings), wallLoss: model.wallLoss,
            weights: samples.map(\.precision), received: received)
        let powerPrior = Self.sharing / (Self.powerDeviation * Self.powerDeviation)
        let offsetPrior = 1 / (Self.offsetDeviation * Self.offsetDeviation)
        /// Returns the weighted mean of what remains for each index, with a prior at 0.
        func fit(_ old: [Double], prior: Double, _ index: KeyPath<Sample, Int>) -> [Double] {
            var sums = old.map { _ in (residuals: 0.0, weights: prior) }
            for (sample, weight) in zip(samples, levels.weights) {
                let place = sample[keyPath: index]
                sums[place].residuals += weight * (levels.residual(sample) + old[place])
                sums[place].weights += weight
            }
            return sums.map { $0.residuals / $0.weights }
        }
        let hasWalls = walls.contains { $0 != nil }
        for _ in 0..<Self.mostIterations {
            let before = levels.powers
            let all = levels.weights.reduce(0, +)
            levels.mean += zip(samples, levels.weights).reduce(0) { $0 + $1.1 * levels.residual($1.0) } / all
            levels.powers = fit(levels.powers, prior: powerPrior, \.beacon)
            levels.offsets = fit(levels.offsets, prior: offsetPrior, \.recording)
            if hasWalls { fitWalls(&levels, samples) }
            for (index, sample) in samples.enumerated() {
                levels.weights[index] = Self.weight(
                    of: sample, error: levels.residual(sample), lossVariance: levels.lossVariance(sample))
            }
            if zip(before, levels.powers).allSatisfy({ abs($0 - $1) < Self.tolerance }) { break }
        }
        return levels
    }

    /// Fits the loss through a wall.
    private func fitWalls(_ levels: inout Levels, _ samples: [Sample]) {
        let prior = 1 / (Self.wallDeviation * Self.wallDeviation)
        var moment = prior * model.wallLoss
        var sum = prior
        for (sample, weight) in zip(samples, levels.weights) {
            // What remains without the walls.
            let rest = levels.residual(sample) - levels.wallLoss * sample.walls
            moment -= weight / Self.sharing * sample.walls * rest
            sum += weight / Self.sharing * sample.walls * sample.walls
        }
        levels.wallLoss = max(0, moment / sum)
        levels.wallPrecision = sum
    }

    /// Returns the loss through a wall with what it rests on; nil if nothing was received through walls.
    private func wallLoss(_ levels: Levels, _ samples: [Sample]) -> RadioCalibration.Loss? {
        let readings = samples.reduce(0) { $1.walls >= 0.5 ? $0 + $1.count : $0 }
        guard readings > 0, levels.wallPrecision > 0 else { return nil }
        return RadioCalibration.Loss(
            value: levels.wallLoss, standardError: 1 / levels.wallPrecision.squareRoot(), readings: readings)
    }

    /// Fits the loss through a floor to the readings of beacons on other maps; nil without any.
    private func floorLoss(of samples: [Sample], _ levels: Levels) -> RadioCalibration.Loss? {
        guard !samples.isEmpty else { return nil }
        let prior = 1 / (Self.floorDeviation * Self.floorDeviation)
        var weights = samples.map(\.precision)
        var (loss, sum) = (model.floorLoss, prior)
        for _ in 0..<Self.mostIterations {
            let before = loss
            sum = prior
            var moment = prior * model.floorLoss
            for (sample, weight) in zip(samples, weights) {
                let floors = Double(sample.floors)
                // What remains without the floors.
                let rest = levels.residual(sample, floorLoss: before) - floors * before
                moment -= weight / Self.sharing * floors * rest
                sum += weight / Self.sharing * floors * floors
            }
            loss = max(0, moment / sum)
            for (index, sample) in samples.enumerated() {
                weights[index] = Self.weight(
                    of: sample, error: levels.residual(sample, floorLoss: loss),
                    lossVariance: levels.lossVariance(sample))
            }
            if abs(loss - before) < Self.tolerance { break }
        }
        return RadioCalibration.Loss(
            value: loss, standardError: 1 / sum.squareRoot(), readings: samples.reduce(0) { $0 + $1.count })
    }

    /// Returns the powers with what they rest on; their mean stays that of the presumed powers.
    private func described(_ levels: Levels, _ samples: [Sample]) -> [RadioCalibration.Power] {
        let powers = levels.powers
        var basis = powers.map { _ in (readings: 0, recordings: Set<Int>(), weight: 0.0) }
        for (sample, weight) in zip(samples, levels.weights) {
            basis[sample.beacon].readings += sample.count
            basis[sample.beacon].recordings.insert(sample.recording)
            basis[sample.beacon].weight += weight / Self.sharing
        }
        let heard = basis.indices.filter { basis[$0].readings > 0 }
        let average = heard.reduce(0) { $0 + powers[$1] } / Double(max(1, heard.count))
        let prior = 1 / (Self.powerDeviation * Self.powerDeviation)
        return heard.map { index in
            let beacon = venue.beacons[index]
            return RadioCalibration.Power(
                beacon: beacon.identity,
                value: (beacon.measuredPower ?? model.defaultPower) + powers[index] - average,
                standardError: 1 / (prior + basis[index].weight).squareRoot(), readings: basis[index].readings,
                recordings: basis[index].recordings.count, effectiveReadings: Self.shadowing * basis[index].weight)
        }
    }

    // MARK: - Sensitivity

    /// The values among which the sensitivity is chosen, in dBm, and those of its width in dB.
    private static let levels = Array(stride(from: -110.0, through: -60, by: 2.5))
    private static let widths = [2.0, 4, 8]
    /// The weight of a detection, and the standard deviation in dB of the sensitivity about the presumed one.
    private static let detectionWeight = 0.5
    private static let levelDeviation = 10.0

    /// A piece for the sensitivity: the ways from all beacons, and the draws of those received.
    private struct Detections {
        /// The path loss in dB, negative, and the number of floors and the mean number of walls.
        var ways: [(path: Double, floors: Double, walls: Double)] = []
        /// The index of each received beacon, and the number of its draws.
        var draws: [(beacon: Int, count: Double)] = []
        /// The number of readings.
        var readings = 0
    }

    /// Chooses the sensitivity and the width under which the received beacons are most probable among all beacons.
    private func sensitivity(
        of heard: [Detections], _ known: [RadioCalibration.Power], _ floorLoss: RadioCalibration.Loss?,
        wallLoss: Double
    ) -> (level: Double, error: Double, width: Double, readings: Int, draws: Double) {
        var powers = venue.beacons.map { $0.measuredPower ?? model.defaultPower }
        for power in known {
            if let index = indexes[power.beacon] { powers[index] = power.value }
        }
        let floorLoss = floorLoss?.value ?? model.floorLoss
        let expected = heard.map { piece in
            zip(powers, piece.ways).map { $0 + $1.path - $1.floors * floorLoss - $1.walls * wallLoss }
        }
        let readings = heard.reduce(0) { $0 + $1.readings }
        var draws = 0.0
        for piece in heard { draws = piece.draws.reduce(draws) { $0 + $1.count } }
        var scores: [(level: Double, width: Double, score: Double)] = []
        for level in Self.levels {
            let deviation = (level - model.sensitivity) / Self.levelDeviation
            for width in Self.widths {
                var sum = -deviation * deviation / 2
                for (piece, expected) in zip(heard, expected) { sum += score(of: piece, expected, level, width) }
                scores.append((level, width, sum))
            }
        }
        var best = (level: model.sensitivity, width: model.sensitivityWidth, score: -Double.infinity)
        for score in scores where score.score > best.score { best = score }
        var moments = (sum: 0.0, first: 0.0, second: 0.0)
        for (level, _, score) in scores {
            let weight = cmath_exp(score - best.score)
            moments.sum += weight
            moments.first += weight * (level - best.level)
            moments.second += weight * (level - best.level) * (level - best.level)
        }
        let mean = moments.first / moments.sum
        // The values are 2.5 dB apart, which alone causes a deviation of a uniform distribution.
        let step = Self.levels[1] - Self.levels[0]
        let variance = max(0, moments.second / moments.sum - mean * mean) + step * step / 12
        return (best.level, variance.squareRoot(), best.width, readings, Self.detectionWeight * draws)
    }

    private func detections(in piece: FingerprintCutter.Piece) -> Detections {
        var result = Detections()
        for (index, beacon) in venue.beacons.enumerated() {
            if let reading = piece.readings[beacon.identity] {
                result.draws.append((index, piece.draws(reading.count)))
            }
            let exponent = beacon.pathLossExponent ?? model.pathLossExponent
            let loss = loss(of: piece, to: index)
            let floors = floorDistance.floors(from: beacon.mapID, to: piece.mapID)
            result.ways.append((exponent * loss.mean, Double(floors), loss.walls))
        }
        for (identity, reading) in piece.readings where indexes[identity] != nil { result.readings += reading.count }
        return result
    }

    private func score(of piece: Detections, _ expected: [Double], _ level: Double, _ width: Double) -> Double {
        let unheard = model.unsurveyedRate / Double(max(1, venue.beacons.count))
        let rates = expected.map { max(unheard, 1 / (1 + cmath_exp((level - $0) / width))) }
        let all = cmath_log(rates.reduce(0, +))
        return Self.detectionWeight * piece.draws.reduce(0) { $0 + $1.count * (cmath_log(rates[$1.beacon]) - all) }
    }
}

extension FingerprintCutter.Piece {
    /// Returns how many of a beacon's readings count as independent detections: one for each second of the piece, at
    /// least one and at most four.
    func draws(_ readings: Int) -> Double { min(Double(readings), max(1, min(duration, 4))) }
}

/// The probability that a signal is received, by the expected level.
struct Reception: Hashable {
    /// The level in dBm that is received with a probability of one half.
    let level: Double
    /// The width in dB of the transition, as the scale of a logistic function.
    private let width: Double
    /// The variance in dB² of levels around the expected one.
    private let variance: Double

    /// The ratio of the deviation of a normal distribution to the scale of the most similar logistic one.
    private static let normalRatio = 1.7

    /// Creates the probability for a receiver with a sensitivity in dBm and its width in dB.
    ///
    /// - Parameter deviation: the standard deviation in dB of levels around the expected one.
    init(level: Double, width: Double, deviation: Double) {
        self.level = level
        let spread = deviation / Self.normalRatio
        self.width = (width * width + spread * spread).squareRoot()
        variance = deviation * deviation
    }

    /// Returns how much received levels exceed the expected one on average, in dB: the variance times the slope of the
    /// probability's logarithm.
    func expectedError(at expected: Double) -> Double {
        variance / width / (1 + cmath_exp(min(100, (expected - level) / width)))
    }
}

/// The mean and the variance of the path loss, for an exponent of 1, over the normal distribution of a piece's position.
struct PieceLoss {
    /// The mean in dB, negative.
    let mean: Double
    /// The variance in dB².
    let variance: Double
    /// The mean and the variance of the number of walls, and its covariance with the path loss.
    let walls: Double
    let wallVariance: Double
    let covariance: Double

    /// The number of points of the distribution: a spiral with the golden angle, whose radii are quantiles.
    private static let points = 24
    private static let goldenAngle = 2.399_963_229_728_653

    init(
        of piece: FingerprintCutter.Piece, to beacon: MapPoint, walls counts: WallCounts? = nil, model: SignalModel
    ) {
        func loss(_ planar: Double) -> Double {
            model.pathLoss(power: 0, exponent: 1, planar: planar, height: model.heightDifference)
        }
        var (sum, squares) = (0.0, 0.0)
        var (walls, wallSquares, products) = (0.0, 0.0, 0.0)
        for point in 0..<Self.points {
            let share = (Double(point) + 0.5) / Double(Self.points)
            let radius = piece.deviation * (-2 * cmath_log(1 - share)).squareRoot()
            let angle = Self.goldenAngle * Double(point)
            let place = MapPoint(
                x: piece.point.x + radius * cmath_cos(angle), y: piece.point.y + radius * cmath_sin(angle))
            let value = loss(place.distance(to: beacon))
            sum += value
            squares += value * value
            guard let counts else { continue }
            let count = counts.count(to: place)
            walls += count
            wallSquares += count * count
            products += count * value
        }
        let count = Double(Self.points)
        mean = sum / count
        variance = max(0, squares / count - mean * mean)
        self.walls = walls / count
        wallVariance = max(0, wallSquares / count - self.walls * self.walls)
        covariance = products / count - mean * self.walls
    }
}
