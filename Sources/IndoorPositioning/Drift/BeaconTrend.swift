import CMath
import IndoorVocabulary

/// How the level of a beacon has changed over days and weeks, and what to do about it.
package struct BeaconTrend: Hashable, Sendable {
    /// The level of a beacon on one day.
    package struct Day: Hashable, Sendable {
        /// The number of days since 1 January 1970 in UTC.
        package var day: Int
        /// The difference from the expected level in dB, as at the same places on each day.
        package var level: Double
        /// The standard error of `level` in dB.
        package var standardError: Double
        /// The number of independent readings.
        package var readings: Double
    }

    /// The cause of a sudden change.
    package enum Cause: String, Hashable, Sendable {
        /// The level has changed by the same amount everywhere: another battery, another power, another beacon, or a cover.
        case power
        /// The level rises at some places and falls at others.
        case moved
        /// The level falls at some places only: a wall, a cabinet or a machine between them and the beacon.
        case shadowed
        /// Too few places or days show it.
        case unknown
    }

    /// What has happened to a beacon.
    package enum Change: Hashable, Sendable {
        /// There are too few days with readings to say anything.
        case unknown
        /// No change is significant.
        case steady
        /// The level has changed slowly since a day: `perWeek` in dB with its standard error, and the total in dB.
        case drift(since: Int, perWeek: Double, standardError: Double, total: Double)
        /// The level has changed suddenly on a day, by `difference` in dB with its standard error.
        case step(on: Int, difference: Double, standardError: Double, cause: Cause)
        /// The level has changed since about a day, by `difference` in dB with its standard error; whether slowly or
        /// suddenly isn't known yet.
        case changed(since: Int, difference: Double, standardError: Double)
        /// In the last two weeks, the beacon was received in this share of the expected looks.
        case faint(share: Double)
        /// The beacon was not received since a day although people were near it; `since` is nil if it never was.
        case silent(since: Int?)
    }

    /// What to do about a change.
    package enum Advice: String, Hashable, Sendable {
        /// Replace the battery.
        case replaceBattery
        /// Look whether the beacon is there and works.
        case lookAtBeacon
        /// Look whether the beacon was moved.
        case lookWhetherMoved
        /// Survey the area again.
        case surveyAgain
    }

    /// A rectangle of a map in metres.
    package struct Area: Hashable, Sendable {
        /// The map.
        package var mapID: MapID
        /// The bounds in metres from the plan's top left corner.
        package var x: ClosedRange<Double>
        package var y: ClosedRange<Double>
    }

    /// The beacon.
    package var beacon: BeaconIdentity
    /// The days with readings at which the position was certain, in ascending order.
    package var days: [Day]
    /// The change.
    package var change: Change
    /// The places at which the level has changed; nil without a change of the level.
    package var area: Area?
    /// The number of independent looks near the beacon, and of those with a reading of it.
    package var looks: Double
    package var heard: Double

    /// The advice; nil if nothing is to be done.
    package var advice: Advice? {
        switch change {
        case .unknown, .steady: nil
        case .drift(_, let perWeek, _, _): perWeek < 0 ? .replaceBattery : .surveyAgain
        case .step(_, let difference, _, let cause):
            switch cause {
            case .moved: .lookWhetherMoved
            case .shadowed: .surveyAgain
            case .power: difference < 0 ? .lookAtBeacon : .surveyAgain
            case .unknown: .lookAtBeacon
            }
        case .changed: .lookAtBeacon
        case .faint: .replaceBattery
        case .silent: .lookAtBeacon
        }
    }
}

/// The evidence from which on a change is reported.
///
/// The statistics of the tests have the tail of a chi-squared distribution with one degree of freedom: a value above t has a
/// probability below exp(−t / 2). With B beacons that are tested on D days, and the rate α of false alarms in a whole
/// venue and history, the threshold is t = 2 ln(B D / α).
struct ChangeThreshold: Hashable, Sendable {
    /// The rate of false alarms: one in a hundred venues and histories of three months, of each kind of change.
    static let falseAlarms = 0.01

    /// The logarithm of the number of tests divided by the rate.
    let evidence: Double
    private let days: Double

    init(beacons: Int, days: Int) {
        self.days = Double(max(days, 1))
        evidence = cmath_log(Double(max(beacons, 1)) * self.days / Self.falseAlarms)
    }

    /// The threshold of a test at a known time.
    var fixed: Double { 2 * evidence }
    /// The threshold of a test at the most probable day: days that are close to each other share their evidence.
    var searched: Double { 2 * (evidence + cmath_log(max(days / 4, 1))) }
}

extension BeaconTrend {
    /// The least change of a level that is reported, in dB. A smaller one changes positions little, and a large change of one
    /// beacon moves the median of a look, from which the others are measured, by up to 1 dB.
    private static let leastDrift = 2.0
    private static let leastStep = 3.0
    /// The fewest days with a level that show a change, and those on each side of a sudden one.
    private static let fewestDays = 8
    fileprivate static let fewestDaysOfStep = 3
    /// The fewest days of a slow change.
    private static let shortestDrift = 10
    /// The days after a sudden change from which on its cause is reported: the first places that people visit may all be
    /// on one side of the beacon.
    private static let fewestDaysOfCause = 14
    /// The difference of the evidence by which a slow change is told from a sudden one: a likelihood ratio of 20.
    private static let leastDifference = 6.0
    /// The greatest standard error in dB of a day that counts.
    private static let largestError = 5.0
    /// The days of the last two weeks, the share of the expected looks below which a beacon is faint, and the fewest
    /// days of silence.
    private static let faintDays = 14
    private static let faintShare = 0.7
    private static let fewestSilentDays = 2

    init(
        beacon: BeaconIdentity, cells: [(key: BeaconHistory.Key, cell: BeaconLevels.Cell)],
        detections: [BeaconDetections.Day], threshold: ChangeThreshold
    ) {
        let known = PlacedLevels(cells)
        let days = DailyLevels(known).days.filter { $0.standardError <= Self.largestError }
        self.init(
            beacon: beacon, days: days, change: .unknown, area: nil,
            looks: detections.reduce(0) { $0 + $1.looks }, heard: detections.reduce(0) { $0 + $1.heard })
        if days.count >= Self.fewestDays { change = .steady }
        let found = Self.levelChange(days, threshold)
        if let found { change = found.change }
        if case .step(let day, let difference, let error, _)? = found?.change {
            let places = PlaceChanges(known, from: day, scale: found?.scale)
            set(places, difference: difference, error: error)
        } else if days.count >= Self.fewestDays, let places = PlaceChanges.mostProbable(known, days, threshold),
            found == nil || places.cause == .moved
        {
            if places.cause == .power {
                // The levels of the days show no step.
                change = .changed(
                    since: places.day, difference: places.mean, standardError: places.meanError)
            } else {
                set(places, difference: places.mean, error: places.meanError)
            }
        }
        if let missing = Self.missing(detections, threshold) {
            if case .silent = missing { change = missing }
            if change == .steady || change == .unknown { change = missing }
        }
    }

    // MARK: - Level

    private mutating func set(_ places: PlaceChanges, difference: Double, error: Double) {
        let isEarly = (days.last?.day ?? places.day) - places.day < Self.fewestDaysOfCause
        let cause = isEarly && places.cause != .moved ? .unknown : places.cause
        change = .step(on: places.day, difference: difference, standardError: error, cause: cause)
        area = places.area
    }

    /// Returns the most probable change of the level, and the ratio of the days' variances to the expected ones.
    private static func levelChange(
        _ days: [Day], _ threshold: ChangeThreshold
    ) -> (change: Change, scale: Double)? {
        guard days.count >= fewestDays, let first = days.first?.day, let last = days.last?.day else { return nil }
        let test = LevelTest(days)
        var best: (change: Change, evidence: Double, fit: LevelTest.Fit, limit: Double)?
        // Also of the changes that are too small to be reported.
        var gains = (drift: 0.0, step: 0.0)
        func consider(_ fit: LevelTest.Fit, limit: Double, _ change: Change, size: Double, least: Double) {
            if case .drift = change {
                gains.drift = max(gains.drift, fit.gain)
            } else {
                gains.step = max(gains.step, fit.gain)
            }
            guard size.magnitude >= least, fit.gain > best?.fit.gain ?? 0 else { return }
            best = (change, fit.gain, fit, limit)
        }
        for start in stride(from: first, through: last - shortestDrift, by: 3) {
            let fit = test.fit { Double(max(0, $0 - start)) }
            let total = fit.slope * Double(last - start)
            let drift = Change.drift(
                since: start, perWeek: 7 * fit.slope, standardError: 7 * test.error(of: fit), total: total)
            consider(
                fit, limit: start == first ? threshold.fixed : threshold.searched, drift, size: total,
                least: leastDrift)
        }
        for index in days.indices.dropFirst(fewestDaysOfStep).dropLast(fewestDaysOfStep - 1) {
            let day = days[index].day
            let fit = test.fit { $0 >= day ? 1 : 0 }
            let step = Change.step(
                on: day, difference: fit.slope, standardError: test.error(of: fit), cause: .unknown)
            consider(fit, limit: threshold.searched, step, size: fit.slope, least: leastStep)
        }
        guard let best, test.evidence(of: best.fit) >= best.limit else { return nil }
        let scale = test.scale(of: best.fit)
        guard (gains.drift - gains.step).magnitude < leastDifference * scale else { return (best.change, scale) }
        switch best.change {
        case .drift(let since, _, let error, let total):
            let weeks = Double(last - since) / 7
            return (.changed(since: since, difference: total, standardError: error * weeks), scale)
        case .step(let day, let difference, let error, _):
            return (.changed(since: day, difference: difference, standardError: error), scale)
        default: return (best.change, scale)
        }
    }

    // MARK: - Detections

    /// Returns whether the beacon is missing although people were near it.
    private static func missing(_ days: [BeaconDetections.Day], _ threshold: ChangeThreshold) -> Change? {
        guard let last = days.last?.day else { return nil }
        let heardOn = days.last { $0.heard > 0 }?.day
        let silent = days.filter { $0.day > heardOn ?? .min }
        let before = days.filter { $0.day <= heardOn ?? .min }
        // More looks than are independent, and people who pass at other distances, make the numbers scatter more.
        let ratios = before.filter { $0.variance > 0.5 }.map {
            ($0.heard - $0.expected) * ($0.heard - $0.expected) / $0.variance
        }
        let spread = max(1, ratios.isEmpty ? 4 : ratios.reduce(0, +) / Double(ratios.count))
        let expected = silent.reduce(0) { $0 + $1.expected }
        if silent.count >= fewestSilentDays, expected / spread >= threshold.evidence {
            return .silent(since: heardOn.map { _ in silent[0].day })
        }
        let recent = days.filter { $0.day > last - faintDays }
        guard recent.count >= fewestDaysOfStep, days.count - recent.count >= fewestDays else { return nil }
        let (heard, wanted) = recent.reduce((0.0, 0.0)) { ($0.0 + $1.heard, $0.1 + $1.expected) }
        let variance = recent.reduce(0) { $0 + $1.variance } * spread
        guard wanted > 0, variance > 0, heard / wanted <= faintShare,
            (wanted - heard) * (wanted - heard) / variance >= threshold.fixed
        else { return nil }
        return .faint(share: heard / wanted)
    }
}

/// The cells with a level of one beacon, in the order of the cells.
///
/// The numbers of a kind follow each other, and loops go over indexes: the tests run without optimization, where a loop over a
/// sequence of tuples takes many times as long.
struct PlacedLevels {
    /// The places in ascending order.
    let places: [BeaconLevels.Place]
    /// The day of each cell, and the index of its place.
    private(set) var days: [Int] = []
    private(set) var placeOf: [Int] = []
    /// The level of each cell in dB, its weight in 1/dB², and the number of its independent readings.
    private(set) var levels: [Double] = []
    private(set) var weights: [Double] = []
    private(set) var readings: [Double] = []

    init(_ cells: [(key: BeaconHistory.Key, cell: BeaconLevels.Cell)]) {
        var known: Set<BeaconLevels.Place> = []
        for index in cells.indices where cells[index].cell.readings > 0 { known.insert(cells[index].key.place) }
        places = known.sorted()
        let indexes = Dictionary(uniqueKeysWithValues: zip(places, places.indices))
        for index in cells.indices {
            let (key, cell) = cells[index]
            guard let level = cell.level, let place = indexes[key.place] else { continue }
            days.append(key.day)
            placeOf.append(place)
            levels.append(level)
            weights.append(1 / DailyLevels.variance(of: cell.readings))
            readings.append(cell.readings)
        }
    }
}

/// The level of a beacon on each day, as at the same places.
///
/// A mean over all readings of a day would change with the places that people visit: furniture and walls make the field
/// wrong by some decibels at each place, in the same way on all days. The fit therefore explains the level of a place
/// on a day by a sum of two effects, of the place and of the day. Student's t distribution limits the influence of one
/// cell, as in `CalibrationFit`.
struct DailyLevels {
    /// The days with a reading.
    private(set) var days: [BeaconTrend.Day] = []

    /// The variance in dB² of an independent reading, and that which all readings of a place on one day share.
    static let readingVariance = 25.0
    static let placeVariance = 2.25
    /// The variance in dB² of a day's effect: a day that shares no place with others tells nothing.
    private static let dayVariance = 100.0
    private static let freedom = 5.0
    private static let iterations = 40

    init(_ known: PlacedLevels) {
        guard !known.levels.isEmpty else { return }
        let allDays = Array(Set(known.days)).sorted()
        let dayIndexes = Dictionary(uniqueKeysWithValues: zip(allDays, allDays.indices))
        let dayOf = known.days.map { dayIndexes[$0] ?? 0 }
        let (placeOf, levels) = (known.placeOf, known.levels)
        var weights = known.weights
        var places = [Double](repeating: 0, count: known.places.count)
        var effects = [Double](repeating: 0, count: allDays.count)
        var (values, sums, dayWeights) = (effects, effects, effects)
        for _ in 0..<Self.iterations {
            (values, sums) = (places.map { _ in 0 }, places.map { _ in 1e-9 })
            for index in levels.indices {
                values[placeOf[index]] += weights[index] * (levels[index] - effects[dayOf[index]])
                sums[placeOf[index]] += weights[index]
            }
            for place in places.indices { places[place] = values[place] / sums[place] }
            (values, sums) = (effects.map { _ in 0 }, effects.map { _ in 1 / Self.dayVariance })
            for index in levels.indices {
                values[dayOf[index]] += weights[index] * (levels[index] - places[placeOf[index]])
                sums[dayOf[index]] += weights[index]
            }
            for day in effects.indices { effects[day] = values[day] / sums[day] }
            dayWeights = sums
            for index in levels.indices {
                let (error, weight) = (
                    levels[index] - places[placeOf[index]] - effects[dayOf[index]], known.weights[index]
                )
                weights[index] = weight * (Self.freedom + 1) / (Self.freedom + weight * error * error)
            }
        }
        var mean = (value: 0.0, weight: 0.0)
        var readings = [Double](repeating: 0, count: allDays.count)
        for index in levels.indices {
            mean.value += known.weights[index] * places[placeOf[index]]
            mean.weight += known.weights[index]
            readings[dayOf[index]] += known.readings[index]
        }
        days = allDays.indices.map { index in
            BeaconTrend.Day(
                day: allDays[index], level: effects[index] + mean.value / mean.weight,
                standardError: 1 / dayWeights[index].squareRoot(), readings: readings[index])
        }
    }

    /// Returns the variance in dB² of the mean level of a place on one day.
    static func variance(of readings: Double) -> Double { placeVariance + readingVariance / max(readings, 0.1) }
}

/// A test of a sequence of daily levels against one that doesn't change.
struct LevelTest {
    /// The weighted regression of the levels on a constant and on one function of the day.
    struct Fit {
        /// The factor of the function in dB.
        var slope: Double
        /// The inverse variance of `slope`, for the expected variances of the days.
        var precision: Double
        /// By how much the function decreases the sum of the squared errors, in units of their variances.
        var gain: Double
        /// The mean level without the function, and the mean of the function.
        var mean: (level: Double, value: Double)
        /// The function on each day.
        var values: [Double]
    }

    private let days: [Int]
    private let levels: [Double]
    private let weights: [Double]

    /// The number of days that the expected ratio of the variances, 1, counts as: with few days, the ratio isn't known.
    private static let priorDays = 20.0
    /// The bound of one day's squared error, in units of its variance.
    private static let largestSquare = 16.0
    private static let correlations = 0.0...0.7

    init(_ days: [BeaconTrend.Day]) {
        self.days = days.map(\.day)
        levels = days.map(\.level)
        weights = days.map { 1 / ($0.standardError * $0.standardError) }
    }

    func fit(_ function: (Int) -> Double) -> Fit {
        var values = levels
        for index in days.indices { values[index] = function(days[index]) }
        var (all, level, value) = (0.0, 0.0, 0.0)
        for index in days.indices {
            all += weights[index]
            level += weights[index] * levels[index]
            value += weights[index] * values[index]
        }
        level /= all
        value /= all
        var (square, product) = (0.0, 0.0)
        for index in days.indices {
            let difference = values[index] - value
            square += weights[index] * difference * difference
            product += weights[index] * difference * (levels[index] - level)
        }
        guard square > 0 else { return Fit(slope: 0, precision: 0, gain: 0, mean: (level, value), values: values) }
        return Fit(
            slope: product / square, precision: square, gain: product * product / square, mean: (level, value),
            values: values)
    }

    /// Returns the ratio of the variance of the days to the expected one: from the errors of the fit, and increased for
    /// errors that last for several days.
    func scale(of fit: Fit) -> Double {
        var (squares, products, earlier) = (0.0, 0.0, 0.0)
        for index in days.indices {
            let error =
                (levels[index] - fit.mean.level - fit.slope * (fit.values[index] - fit.mean.value))
                * weights[index].squareRoot()
            squares += min(error * error, Self.largestSquare)
            if index > 0 { products += earlier * error }
            earlier = error
        }
        let count = Double(days.count)
        let ratio = (Self.priorDays + squares) / (Self.priorDays + max(count - 2, 0))
        let correlation = squares > 0 ? products / max(squares, 1e-9) : 0
        // The estimate of few days is uncertain, and smaller than the true correlation by about its standard error.
        let bounded = min(max(correlation, Self.correlations.lowerBound), Self.correlations.upperBound)
        return ratio * (1 + bounded) / (1 - bounded)
    }

    /// Returns the standard error of the factor of a function, in dB.
    func error(of fit: Fit) -> Double { fit.precision > 0 ? (scale(of: fit) / fit.precision).squareRoot() : .infinity }

    /// Returns the evidence for a function, which has the tail of a chi-squared distribution with one degree of freedom: that
    /// of Student's t distribution, because the scale is estimated.
    func evidence(of fit: Fit) -> Double {
        let freedom = Self.priorDays + max(Double(days.count) - 3, 1)
        return freedom * cmath_log(1 + fit.gain / scale(of: fit) / freedom)
    }
}

/// The changes of a beacon's level at each place from a day on.
///
/// A moved beacon is stronger at some places and weaker at others, so that its mean level may not change.
struct PlaceChanges {
    /// The change at one place in dB, and its variance in dB².
    private struct Change {
        var place: BeaconLevels.Place
        var value: Double
        var variance: Double
    }

    /// The day of the change.
    let day: Int
    private let changes: [Change]
    /// The sum of the squared errors that remain, in units of the expected variances, and the number of levels that are
    /// free in it.
    private let rest: (squares: Double, freedom: Double)

    /// A change of 3 dB at a place by three standard errors counts, and three places are needed for a cause.
    private static let leastChange = 3.0
    private static let certainty = 3.0
    private static let fewestPlaces = 3
    /// The number of changed places that show a change without a change of the mean.
    private static let fewestChanged = 2
    /// The number of standard deviations by which the places must differ more than by chance.
    private static let disagreement = 4.0
    /// The number of levels that the expected variance counts as.
    private static let priorLevels = 20.0

    /// - Parameter scale: the ratio of the variances to the expected ones; nil to estimate it.
    init(_ known: PlacedLevels, from day: Int, scale: Double? = nil) {
        // The weighted sums of the levels of each place before and from the day on.
        let none = [Double](repeating: 0, count: known.places.count)
        var (before, weightsBefore, after, weightsAfter) = (none, none, none, none)
        var squares = 0.0
        for index in known.levels.indices {
            let (level, weight, place) = (known.levels[index], known.weights[index], known.placeOf[index])
            squares += weight * level * level
            if known.days[index] < day {
                before[place] += weight * level
                weightsBefore[place] += weight
            } else {
                after[place] += weight * level
                weightsAfter[place] += weight
            }
        }
        var count = Double(known.levels.count)
        for place in none.indices {
            if weightsBefore[place] > 0 {
                squares -= before[place] * before[place] / weightsBefore[place]
                count -= 1
            }
            if weightsAfter[place] > 0 {
                squares -= after[place] * after[place] / weightsAfter[place]
                count -= 1
            }
        }
        rest = (max(0, squares), max(0, count))
        let scale = scale ?? (Self.priorLevels + rest.squares) / (Self.priorLevels + rest.freedom)
        self.day = day
        changes = none.indices.filter { weightsBefore[$0] > 0 && weightsAfter[$0] > 0 }.map { place in
            Change(
                place: known.places[place],
                value: after[place] / weightsAfter[place] - before[place] / weightsBefore[place],
                variance: max(scale, 0.5) * (1 / weightsAfter[place] + 1 / weightsBefore[place]))
        }
    }

    /// Returns the changes at the most probable day, if they are significant.
    static func mostProbable(
        _ known: PlacedLevels, _ days: [BeaconTrend.Day], _ threshold: ChangeThreshold
    ) -> PlaceChanges? {
        let side = BeaconTrend.fewestDaysOfStep
        let all = days.dropFirst(side).dropLast(side - 1).map { PlaceChanges(known, from: $0.day) }
        guard let best = all.max(by: { $0.evidence < $1.evidence }), 2 * best.evidence >= threshold.searched,
            best.certain.count >= fewestChanged
        else { return nil }
        return best
    }

    /// The negative logarithm of an upper bound of the probability of these changes by chance.
    ///
    /// The sum of d squared changes has a chi-squared distribution with d degrees of freedom. Source: H. Chernoff, *A
    /// Measure of Asymptotic Efficiency for Tests of a Hypothesis*, Annals of Mathematical Statistics 23(4), 1952.
    private var evidence: Double {
        let sum = changes.reduce(0) { $0 + $1.value * $1.value / $1.variance }
        let freedom = Double(changes.count)
        guard freedom > 0, sum > freedom else { return 0 }
        return (sum - freedom - freedom * cmath_log(sum / freedom)) / 2
    }

    /// The mean change in dB, and its standard error.
    var mean: Double { changes.reduce(0) { $0 + $1.value / $1.variance } * meanError * meanError }
    var meanError: Double { (1 / max(changes.reduce(0) { $0 + 1 / $1.variance }, 1e-9)).squareRoot() }

    private var certain: [Change] {
        changes.filter {
            $0.value.magnitude >= Self.leastChange
                && $0.value * $0.value >= Self.certainty * Self.certainty * $0.variance
        }
    }

    /// The cause that the differences between the places show.
    var cause: BeaconTrend.Cause {
        guard changes.count >= Self.fewestPlaces else { return .unknown }
        let mean = mean
        let square = changes.reduce(0) { $0 + ($1.value - mean) * ($1.value - mean) / $1.variance }
        let freedom = Double(changes.count - 1)
        guard square >= freedom + Self.disagreement * (2 * freedom).squareRoot() else { return .power }
        return certain.contains { $0.value > 0 } ? .moved : .shadowed
    }

    /// The rectangle around the changed places, on the map with most of them; nil without any.
    var area: BeaconTrend.Area? {
        let places = certain.map(\.place)
        let counts = Dictionary(places.map { ($0.mapID, 1) }, uniquingKeysWith: +)
        guard let mapID = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key else { return nil }
        let here = places.filter { $0.mapID == mapID }
        guard let left = here.map(\.column).min(), let right = here.map(\.column).max(),
            let top = here.map(\.row).min(), let bottom = here.map(\.row).max()
        else { return nil }
        let edge = BeaconLevels.Place.edge
        return BeaconTrend.Area(
            mapID: mapID, x: Double(left) * edge...Double(right + 1) * edge,
            y: Double(top) * edge...Double(bottom + 1) * edge)
    }
}
