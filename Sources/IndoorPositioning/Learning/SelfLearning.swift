import CMath
import IndoorVocabulary
import VenueModel

/// The learning of beacon powers and receiver sensitivity from recordings without ground truth.
///
/// Expectation maximization. The E step estimates the track of each recording with `TrackSmoother`, without a radio map. The
/// M step fits the powers and the sensitivity along these tracks (`CalibrationFit`). Two rounds are enough, and the
/// path-loss exponent is fixed. Source: A. P. Dempster, N. M. Laird, D. B. Rubin, *Maximum Likelihood from Incomplete Data
/// via the EM Algorithm*, Journal of the Royal Statistical Society B 39(1), 1977.
///
/// Learned values aren't always better. Therefore the recordings are also split in two: values learned from one half are
/// judged on the other (`SelfLearningVerdict`).
///
/// The time is bounded by the number of recordings and the length of each; memory holds one recording for each job that runs,
/// and the pieces of all. The caller runs the jobs, in any order:
///
///     while let jobs = learning.jobs() { learning.finish(try jobs.map { try $0.run() }) }
///     learning.outcome
package struct SelfLearning: Sendable {
    /// A recording: calls the closure with each reading, in order, until it returns false. The sightings have the
    /// identities of the venue's beacons.
    package typealias Walk = @Sendable (_ observe: (SensorReading) -> Bool) throws -> Void

    /// The result of the learning.
    package struct Outcome: Hashable, Sendable {
        /// The values learned from all recordings; nil if there are too few readings with a position.
        package var calibration: RadioCalibration?
        /// The comparison with the presumed values.
        package var verdict: SelfLearningVerdict
    }

    /// The work on one recording, which depends on no other job of the same stage.
    package struct Job: Sendable {
        /// What a job found.
        package enum Result: Sendable {
            /// The pieces along the track of a recording.
            case pieces([FingerprintCutter.Piece])
            /// The gain of the learned values in the prediction of a recording.
            case gain(PredictionScore)
        }

        fileprivate let work: @Sendable () throws -> Result

        /// Does the work.
        ///
        /// - Throws: the error of a recording that can't be read.
        package func run() throws -> Result { try work() }
    }

    /// How the recordings are split in two, to learn from one half and to judge by the other.
    package enum Halves: Hashable, Sendable {
        /// Every second recording.
        case alternating
        /// The first half and the second half, for recordings in the order of time: devices that move together have recordings
        /// side by side, which would judge themselves.
        case consecutive
    }

    /// The recordings to learn from.
    private enum Part: Hashable {
        case all
        case half(Int)
    }

    /// What the next jobs are for.
    private enum Phase: Hashable {
        case learning(Part, round: Int)
        /// The values of a half are judged on the other one.
        case judging(Int)
    }

    private let venue: Venue
    private let settings: PositioningSettings
    private let walks: [Walk]
    private let halves: Halves
    private let fit: CalibrationFit
    private var phase = Phase.learning(.all, round: 1)
    /// The values learned from the part of the phase so far, and those from all recordings.
    private var current: RadioCalibration?
    private var whole: RadioCalibration?
    private var gains: [PredictionScore] = []
    /// The result; nil before the last jobs are finished.
    package private(set) var outcome: Outcome?

    /// The number of rounds.
    private static let rounds = 2
    /// The maximum number of recordings to learn from, and of those to judge by.
    private static let mostWalks = 200
    private static let mostJudged = 40
    /// The time in seconds after which the rest of a recording is not used.
    private static let longestWalk = 3600.0
    /// The maximum number of sightings of a recording.
    private static let mostSightings = 500_000
    /// Maximum deviation in metres of a position to learn from, and the distance within which positions are merged.
    private static let largestDeviation = 8.0
    private static let mergedWithin = 0.75

    /// Creates the learning in a venue, whose radio map is not used.
    ///
    /// - Parameters:
    ///   - settings: the settings of the venue's sessions, with the presumed sensitivity.
    ///   - walks: the recordings; of more than 200, a sample is used.
    ///   - halves: how the recordings are split in two.
    package init(
        venue: Venue, settings: PositioningSettings = PositioningSettings(), walks: [Walk],
        halves: Halves = .alternating
    ) {
        var venue = venue
        venue.radioMap = nil
        self.venue = venue
        self.settings = settings
        self.halves = halves
        fit = CalibrationFit(venue: venue, model: settings.signal)
        self.walks = Self.sample(walks, count: Self.mostWalks)
    }

    /// The number of recordings in use.
    package var walkCount: Int { walks.count }

    /// What the next jobs do, in words.
    package var stage: String {
        switch phase {
        case .learning(.all, let round): "learning, round \(round) of \(Self.rounds)"
        case .learning(.half(let half), let round):
            "judging, half \(half + 1) of 2, learning, round \(round) of \(Self.rounds)"
        case .judging(let half): "judging, half \(half + 1) of 2"
        }
    }

    /// Returns the next jobs; nil at the end.
    package func jobs() -> [Job]? {
        guard outcome == nil else { return nil }
        switch phase {
        case .learning(let part, _):
            let tracker = WalkTracker(
                venue: current?.applied(to: venue) ?? venue, settings: current?.applied(to: settings) ?? settings)
            var cutter = FingerprintCutter()
            cutter.mergedWithin = Self.mergedWithin
            return walks(of: part).map { walk in
                Job { [cutter] in .pieces(try tracker.pieces(of: walk, by: cutter, atMost: Self.largestDeviation)) }
            }
        case .judging(let half):
            guard let current else { return [] }
            let before = PredictionJudge(venue: venue, settings: settings)
            let after = PredictionJudge(venue: current.applied(to: venue), settings: current.applied(to: settings))
            return Self.sample(walks(of: .half(1 - half)), count: Self.mostJudged / 2).map { walk in
                Job { .gain(try after.score(of: walk) - before.score(of: walk)) }
            }
        }
    }

    /// Continues with the results of the jobs, in their order.
    package mutating func finish(_ results: [Job.Result]) {
        switch phase {
        case .learning(let part, let round):
            let pieces = results.map { result -> [FingerprintCutter.Piece] in
                if case .pieces(let pieces) = result { pieces } else { [] }
            }
            let found = fit.calibration(of: pieces)
            current = found ?? current
            if found != nil, round < Self.rounds {
                phase = .learning(part, round: round + 1)
            } else {
                finishLearning(from: part)
            }
        case .judging(let half):
            gains += results.compactMap { if case .gain(let gain) = $0 { gain } else { nil } }
            guard half == 0 else {
                outcome = Outcome(calibration: whole, verdict: SelfLearningVerdict(gains: gains))
                return
            }
            learn(from: .half(1))
        }
    }

    private mutating func learn(from part: Part) {
        current = nil
        phase = .learning(part, round: 1)
    }

    private mutating func finishLearning(from part: Part) {
        if case .half(let half) = part {
            phase = .judging(half)
            return
        }
        whole = current
        guard let refusal else { return learn(from: .half(0)) }
        outcome = Outcome(calibration: whole, verdict: SelfLearningVerdict(refusal))
    }

    /// The reason why the values can't be judged; nil if they can.
    private var refusal: SelfLearningVerdict.Refusal? {
        guard let whole else { return .nothingHeard }
        guard walks.count >= SelfLearningVerdict.fewestWalks else { return .tooFewRecordings(walks.count) }
        let powers = whole.usedPowers.count
        return powers < SelfLearningVerdict.fewestBeacons ? .tooFewBeacons(powers) : nil
    }

    private func walks(of part: Part) -> [Walk] {
        switch part {
        case .all: walks
        case .half(let half):
            switch halves {
            case .alternating: walks.indices.filter { $0 % 2 == half }.map { walks[$0] }
            case .consecutive: Array(half == 0 ? walks.prefix(walks.count / 2) : walks.dropFirst(walks.count / 2))
            }
        }
    }

    /// Returns at most `count` of the elements, evenly spaced.
    private static func sample<Element>(_ elements: [Element], count: Int) -> [Element] {
        guard elements.count > count else { return elements }
        return (0..<count).map { elements[$0 * elements.count / count] }
    }

    /// An estimator of the tracks of recordings, and of the pieces along them.
    struct WalkTracker: Sendable {
        let venue: Venue
        let settings: PositioningSettings
        let field: SignalField

        init(venue: Venue, settings: PositioningSettings) {
            self.venue = venue
            self.settings = settings
            field = SignalField(venue: venue, model: settings.signal)
        }

        /// Returns the pieces of a recording along its track.
        ///
        /// - Parameters:
        ///   - limit: the maximum standard deviation in metres of a piece's position.
        ///   - ignored: the beacons that the track doesn't use; the pieces have their readings, too.
        func pieces(
            of walk: Walk, by cutter: FingerprintCutter, atMost limit: Double,
            ignoring ignored: Set<BeaconIdentity> = []
        ) throws -> [FingerprintCutter.Piece] {
            var smoother = TrackSmoother(venue: venue, field: field, settings: settings, seed: 0)
            var sightings: [Sighting] = []
            var start: Instant?
            try walk { reading in
                let first = start ?? reading.instant
                start = first
                guard first.seconds(to: reading.instant) <= longestWalk, sightings.count < mostSightings else {
                    return false
                }
                if case .sighting(let sighting) = reading {
                    if sighting.instant >= sightings.last?.instant ?? sighting.instant { sightings.append(sighting) }
                    if ignored.contains(sighting.beacon) { return true }
                }
                smoother.observe(reading)
                return true
            }
            let recording = SurveyRecording(waypoints: [], sightings: sightings)
            let maps = Set(venue.maps.map(\.id))
            return cutter.pieces(of: recording, along: smoother.finish(), doubt: 1, atMost: limit)
                .filter { maps.contains($0.mapID) }
        }
    }
}

/// How well a recording's readings are predicted; the mean over them.
package struct PredictionScore: Hashable, Sendable {
    /// The mean log density of a level; not finite without a level.
    var density: Double
    /// The mean log probability of a received beacon among all beacons; not finite without one.
    var share: Double

    package static func - (one: PredictionScore, other: PredictionScore) -> PredictionScore {
        PredictionScore(density: one.density - other.density, share: one.share - other.share)
    }
}

/// A judge that predicts the readings of half of the beacons along a track estimated with the other half.
///
/// Errors of the powers that a track confirms by itself don't count, because no beacon predicts its own readings.
struct PredictionJudge: Sendable {
    private let tracker: SelfLearning.WalkTracker
    /// The half of each beacon: 0 or 1.
    private let halves: [BeaconIdentity: Int]

    /// The degrees of freedom of the levels.
    private static let freedom = 8.0

    init(venue: Venue, settings: PositioningSettings) {
        tracker = SelfLearning.WalkTracker(venue: venue, settings: settings)
        let order = venue.beacons.map(\.identity).sorted().enumerated().map { ($1, $0 % 2) }
        halves = Dictionary(order, uniquingKeysWith: { first, _ in first })
    }

    /// Returns how well the readings of a recording are predicted.
    func score(of walk: SelfLearning.Walk) throws -> PredictionScore {
        var density = Mean()
        var share = Mean()
        for half in 0..<2 {
            var cutter = FingerprintCutter()
            cutter.leastProbability = 0
            let others = Set(halves.filter { $0.value != half }.keys)
            let pieces = try tracker.pieces(of: walk, by: cutter, atMost: .infinity, ignoring: others)
            add(pieces, trackedBy: half, to: &density, &share)
        }
        return PredictionScore(density: density.value, share: share.value)
    }

    private struct Mean {
        var sum = 0.0
        var count = 0.0
        var value: Double { count > 0 ? sum / count : .nan }

        mutating func add(_ value: Double, _ weight: Double = 1) {
            sum += weight * value
            count += weight
        }
    }

    private func add(
        _ pieces: [FingerprintCutter.Piece], trackedBy half: Int, to density: inout Mean, _ share: inout Mean
    ) {
        var known: [Double] = []
        var asked: [(error: Double, variance: Double)] = []
        for piece in pieces {
            let readings = piece.readings.sorted { $0.key < $1.key }
            for (identity, reading) in readings {
                guard let error = error(of: identity, reading, in: piece) else { continue }
                if halves[identity] == half {
                    known.append(error.value)
                } else {
                    asked.append((error.value, error.variance))
                }
            }
            addShares(readings, piece, trackedBy: half, to: &share)
        }
        guard !known.isEmpty else { return }
        // The receiver's offset, from the beacons of the track alone.
        let offset = known.sorted()[known.count / 2]
        for (error, variance) in asked {
            let rest = error - offset
            density.add(
                -(Self.freedom + 1) / 2 * cmath_log(1 + rest * rest / (Self.freedom * variance))
                    - cmath_log(variance) / 2)
        }
    }

    /// Returns the difference of a mean level from the expected one, and its variance; nil for an unknown beacon.
    private func error(
        of identity: BeaconIdentity, _ reading: (sum: Double, count: Int), in piece: FingerprintCutter.Piece
    ) -> (value: Double, variance: Double)? {
        let field = tracker.field
        guard let beacon = field.indexes[identity],
            let expected = field.expectation(of: beacon, at: piece.point, on: piece.mapID)
        else { return nil }
        let model = tracker.settings.signal
        // The slope of path loss at a usual distance of 6 m, across the direction of the error half of the time.
        let slope = 10 * model.pathLossExponent / 2.302_585 / 6
        let fading = model.fastFading * model.fastFading / Double(min(max(reading.count, 1), model.readingCap))
        let place = slope * slope * piece.deviation * piece.deviation / 2
        let variance = expected.variance + field.readingDeviation * field.readingDeviation + fading + place
        return (reading.sum / Double(reading.count) - expected.rssi, variance)
    }

    /// Adds the log probability of each received beacon among the beacons that the track doesn't use.
    private func addShares(
        _ readings: [(key: BeaconIdentity, value: (sum: Double, count: Int))], _ piece: FingerprintCutter.Piece,
        trackedBy half: Int, to share: inout Mean
    ) {
        let field = tracker.field
        guard let map = field.maps.first(where: { $0.mapID == piece.mapID }), let cell = map.grid.cell(at: piece.point)
        else { return }
        let (row, column) = cell.quotientAndRemainder(dividingBy: map.grid.columns)
        var rates: [Int: Double] = [:]
        var all = 0.0
        for (beacon, identity) in field.beacons.enumerated() where halves[identity] == 1 - half {
            var rate = field.unheardRate
            if let table = map.tables[beacon], !table.logRate.isEmpty,
                let entry = table.index(column: column, row: row)
            {
                rate = max(rate, cmath_exp(Double(table.logRate[entry])))
            }
            rates[beacon] = rate
            all += rate
        }
        guard all > 0 else { return }
        for (identity, reading) in readings {
            guard let beacon = field.indexes[identity], let rate = rates[beacon] else { continue }
            share.add(cmath_log(rate / all), piece.draws(reading.count))
        }
    }
}

/// The decision whether learned values are used, made without ground truth.
///
/// Values are used if they make the beacons that left-out recordings received more probable by at least a share, and predict
/// the levels of these recordings not worse. Each recording counts as one sample, because errors within a recording are
/// correlated.
///
/// The levels alone aren't enough: where the tracks are wrong, the powers follow them, and confirm them. On ipin2023, the levels
/// are predicted better by three standard errors, and positions get worse. A gain that is certain, but small, isn't enough
/// either: on openhps, the received beacons are predicted better by four standard errors.
package struct SelfLearningVerdict: Hashable, Sendable {
    /// A mean gain over recordings.
    package struct Gain: Hashable, Sendable {
        /// The mean difference of the logarithms.
        package var mean: Double
        /// The standard error of the mean.
        package var standardError: Double

        /// Creates the gain from the recordings; nil if there are too few.
        init?(_ values: [Double]) {
            guard values.count >= SelfLearningVerdict.fewestWalks else { return nil }
            let count = Double(values.count)
            let mean = values.reduce(0, +) / count
            let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (count - 1)
            self.mean = mean
            standardError = (variance / count).squareRoot()
        }

        /// The limit below the gain at a number of standard errors.
        func limit(_ certainty: Double) -> Double { mean - certainty * standardError }
    }

    /// The reason why learned values are not used.
    package enum Refusal: Hashable, Sendable {
        /// Hardly any reading of the venue's beacons has a position.
        case nothingHeard
        /// The powers of too few beacons are certain.
        case tooFewBeacons(Int)
        /// There are too few recordings to judge by.
        case tooFewRecordings(Int)
        /// The levels are predicted worse.
        case lossOfLevels
        /// Which beacons are received is not predicted much better, with certainty.
        case noGainOfDetections
    }

    /// The gain of the level's log density, and of the log probability of the received beacons; nil if not judged.
    package var density: Gain?
    package var share: Gain?
    /// The number of recordings that were judged.
    package var judged = 0
    /// The reason for refusing; nil if the values are used.
    package var refusal: Refusal?

    /// The minimum number of recordings, and of beacons with a certain power. With five recordings, the errors of positions
    /// often grow.
    package static let fewestWalks = 10
    package static let fewestBeacons = 3
    /// The gain of the received beacons that must be certain by two standard errors: they are more probable by 7 %. On the data
    /// sets whose positions get worse, the limit is at most 0.044, and on tetam, which gains most, at least 0.098.
    package static let leastGain = 0.07
    private static let detectionCertainty = 2.0
    /// The number of standard errors by which the levels may be predicted worse.
    private static let levelCertainty = 1.0

    /// A refusal without a comparison.
    package init(_ refusal: Refusal) { self.refusal = refusal }

    /// Decides by the gains of the recordings.
    init(gains: [PredictionScore]) {
        let densities = gains.map(\.density).filter(\.isFinite)
        let shares = gains.map(\.share).filter(\.isFinite)
        judged = densities.count
        density = Gain(densities)
        share = Gain(shares)
        guard let density else {
            refusal = .tooFewRecordings(densities.count)
            return
        }
        guard let share, share.limit(Self.detectionCertainty) >= Self.leastGain else {
            refusal = .noGainOfDetections
            return
        }
        if density.limit(-Self.levelCertainty) < 0 { refusal = .lossOfLevels }
    }
}
