import Foundation
import IndoorLocalization
import ScanRecording
import VenueExchange

/// The learning of a radio map from the recordings of a survey.
struct SurveyLearning {
    var learner: RadioMapLearner
    /// The recordings without a position, which are not used.
    private var withoutPlaces: [String] = []
    /// The ground truth on unknown maps, which is not used, and outside the plans.
    private var misplaced: MisplacedTruths
    /// The recordings read, if they are kept.
    private(set) var walks: [UnlabelledLearning.Walk] = []
    /// Whether a recording has a position on the venue's maps.
    private(set) var hasPlaces = false
    /// Whether the recordings are kept.
    private let keepsWalks: Bool
    /// The lowest RSSI in dBm of the readings to learn from.
    var weakestKept = -Double.infinity
    private let venue: Venue
    private var beacons: Set<BeaconIdentity> = []

    init(venue: Venue, model: SignalModel, keepsWalks: Bool = false) {
        self.venue = venue
        self.keepsWalks = keepsWalks
        misplaced = MisplacedTruths(venue: venue)
        learner = RadioMapLearner(venue: venue, model: model)
    }

    /// Adds recordings, in order.
    ///
    /// - Throws: `RecordingError` of the first invalid recording, `CommandError` if they have too many beacons.
    mutating func add(
        _ paths: [String], strictness: RecordingReader.Strictness, progress: ProgressLine
    ) throws {
        for (index, path) in paths.enumerated() {
            progress.show("survey: recording \(index + 1) of \(paths.count)")
            var recording = try SurveyRecording.reportingWarnings(path, in: venue, strictness: strictness)
            recording.sightings.removeAll { $0.rssi < weakestKept }
            note(recording.waypoints, of: path)
            try count(recording, path)
            learner.add(recording)
            if keepsWalks { walks.append(UnlabelledLearning.Walk(path: path, recording: recording)) }
        }
        progress.show("survey: learning the radio map")
    }

    /// Checks the number of beacons, as each of them costs the learner memory and time.
    private mutating func count(_ recording: SurveyRecording, _ path: String) throws(CommandError) {
        for sighting in recording.sightings { beacons.insert(sighting.beacon) }
        let limit = InputLimits.standard.beacons
        guard beacons.count <= limit else {
            throw CommandError(
                description:
                    "\(path): the recordings up to this one have \(beacons.count) beacons, more than the limit of \(limit) "
                    + "for a radio map; remove beacons that don't belong to the venue")
        }
    }

    private mutating func note(_ places: [SurveyRecording.Waypoint], of path: String) {
        if places.isEmpty { withoutPlaces.append(path) }
        if places.contains(where: { venue.map($0.mapID) != nil }) { hasPlaces = true }
        misplaced.add(places, of: path)
    }

    /// Writes to standard error which ground truth wasn't used or is outside the plans.
    func reportUnused() {
        if !withoutPlaces.isEmpty {
            let verbs = withoutPlaces.count == 1 ? ("has", "was") : ("have", "were")
            StandardError.line(
                "\(withoutPlaces.listed) \(verbs.0) no ground truth with a position and \(verbs.1) not used")
        }
        misplaced.report()
    }

    /// The reason why nothing was learned.
    var reasonForNothing: String {
        if hasPlaces { return "no beacon was received at the positions in the recordings" }
        let otherMaps = misplaced.unknownMaps
        if otherMaps.isEmpty {
            return
                "the recordings have no position at which a beacon was received: their ground truth requires mapId, x, y"
        }
        let known = venue.maps.map(\.id.description).joined(separator: ", ")
        let found = otherMaps.map(\.description).joined(separator: ", ")
        return
            "the recordings are of another venue: their ground truth is on maps \(found), but '\(venue.name)' has maps "
            + known
    }
}

/// The learning of a radio map from recordings with and without ground truth.
///
/// Expectation maximization: in each round, each walk without ground truth is smoothed with the radio map. Then the map
/// is learned again from the recordings with ground truth and from the smoothed positions, weighted by their certainty.
/// For cross-validation, parts of the recordings with ground truth are left out in turn, and located after each round.
/// The rounds end when the errors of these recordings no longer decrease. If the walks don't improve the map, they are
/// not used. Sources: A. P. Dempster, N. M. Laird, D. B. Rubin, *Maximum Likelihood from Incomplete Data via the EM
/// Algorithm*, Journal of the Royal Statistical Society B 39(1), 1977; with a part left out: K. Nigam et al., *Text
/// Classification from Labeled and Unlabeled Documents using EM*, Machine Learning 39, 2000.
struct UnlabelledLearning: Sendable {
    /// The path of a recording, and its content for a survey.
    struct Walk: Sendable {
        var path: String
        var recording: SurveyRecording
    }

    /// The learned radio map with statistics.
    struct Outcome: Sendable {
        var map: RadioMap?
        /// The mean errors in metres of the recordings left out, plus 15 m for each level of difference: first without
        /// the walks, then after each round.
        var errors: [Double] = []
        /// The number of rounds that improved the map.
        var rounds = 0
    }

    let venue: Venue
    let labelled: [Walk]
    let unlabelled: [Walk]
    let strictness: RecordingReader.Strictness
    let jobs: Int
    var settings = PositioningSettings()

    /// The number of parts of the recordings with ground truth; each part is left out in turn.
    private static let parts = 4
    /// The number of left-out recordings that suffices for the comparison; for large surveys, some parts are never left
    /// out.
    private static let judges = 16
    /// The maximum number of rounds.
    private static let mostRounds = 6
    /// The minimum improvement as a share of the error.
    private static let leastGain = 0.01
    /// The penalty for a wrong level in metres.
    private static let levelPenalty = 15.0
    /// The maximum inflation of the smoothed positions' radius.
    private static let mostDoubt = 4.0

    /// Learns the radio map.
    func learn(progress: ProgressLine) async throws -> Outcome {
        var outcome = Outcome(map: map(of: labelled))
        guard labelled.count > 1, !unlabelled.isEmpty else { return outcome }
        var folds = folds()
        let first = try await judge(folds, "round 0", progress)
        var score = first
        outcome.errors = [score.mean]
        var doubts = [score.doubt]
        var rounds = 0
        while rounds < Self.mostRounds {
            for index in folds.indices {
                guard let current = folds[index].map else { continue }
                let name = "round \(rounds + 1), part \(index + 1) of \(folds.count)"
                let found = try await smooth(unlabelled, with: current, name, progress)
                folds[index].map = map(of: folds[index].kept, and: found, doubt: score.doubt)
            }
            let judged = try await judge(folds, "round \(rounds + 1)", progress)
            outcome.errors.append(judged.mean)
            guard judged.mean < (1 - Self.leastGain) * score.mean else { break }
            score = judged
            doubts.append(score.doubt)
            rounds += 1
        }
        guard score.isSurelyBetter(than: first) else { return outcome }
        outcome.rounds = rounds
        // Repeats the same number of rounds with all recordings.
        for (round, doubt) in doubts.prefix(outcome.rounds).enumerated() {
            guard let current = outcome.map else { break }
            let name = "all recordings, round \(round + 1) of \(outcome.rounds)"
            let found = try await smooth(unlabelled, with: current, name, progress)
            outcome.map = map(of: labelled, and: found, doubt: doubt) ?? current
        }
        return outcome
    }

    /// A split of the recordings with ground truth, and the map learned from the kept ones.
    private struct Fold {
        var kept: [Walk]
        var left: [Walk]
        var map: RadioMap?
    }

    private func folds() -> [Fold] {
        var generator = SeededGenerator(seed: 0)
        let order = labelled.shuffled(using: &generator)
        let parts = min(Self.parts, labelled.count)
        // In large surveys, a few parts contain enough recordings for the comparison.
        let used = min(parts, (Self.judges * parts + labelled.count - 1) / labelled.count)
        return (0..<max(1, used)).map { part in
            let kept = order.indices.filter { $0 % parts != part }.map { order[$0] }
            let left = order.indices.filter { $0 % parts == part }.map { order[$0] }
            return Fold(kept: kept, left: left, map: map(of: kept))
        }
    }

    private func map(of labelled: [Walk], and tracks: [SmoothedTrack] = [], doubt: Double = 1) -> RadioMap? {
        var learner = RadioMapLearner(venue: venue, model: settings.signal)
        for walk in labelled { learner.add(walk.recording) }
        for (walk, track) in zip(unlabelled, tracks) { learner.add(walk.recording, along: track, doubt: doubt) }
        return learner.finish()
    }

    private func smooth(
        _ walks: [Walk], with map: RadioMap, _ name: String, _ progress: ProgressLine
    ) async throws -> [SmoothedTrack] {
        var venue = venue
        venue.radioMap = map
        let surveyed = venue
        let field = SignalField(venue: surveyed, model: settings.signal)
        return try await walks.concurrentMap(
            jobs: jobs, report: { progress.show("unlabelled walks, \(name): \($0) of \(walks.count)") }
        ) { _, walk in try smooth(walk, surveyed, field) }
    }

    private func smooth(_ walk: Walk, _ venue: Venue, _ field: SignalField) throws -> SmoothedTrack {
        var smoother = TrackSmoother(
            venue: venue, field: field, settings: settings, device: walk.recording.device, seed: 0)
        let readings = try RecordedReadings(path: walk.path, strictness: strictness)
        let addresses = KnownAddresses(of: venue)
        while let reading = try readings.next() { smoother.observe(addresses.named(reading)) }
        return smoother.finish()
    }
}

extension UnlabelledLearning {
    /// The errors of smoothed positions.
    private struct Score {
        /// The errors by recording and way point in metres, with the penalty for levels.
        var errors: [[Double]]
        /// The ratio of the errors to the expected errors.
        var doubt: Double

        var mean: Double {
            let all = errors.joined()
            return all.isEmpty ? 0 : all.reduce(0, +) / Double(all.count)
        }

        /// Whether the errors are smaller by two standard errors of the mean improvement.
        ///
        /// Each recording counts as one sample, because errors within a recording are correlated. Logarithms are
        /// compared, because otherwise a few errors of a whole floor would dominate.
        func isSurelyBetter(than other: Score) -> Bool {
            let gains = zip(other.errors, errors).map { Self.logarithm($0) - Self.logarithm($1) }
            guard mean < other.mean, gains.count > 1 else { return false }
            let count = Double(gains.count)
            let gain = gains.reduce(0, +) / count
            let variance = gains.reduce(0) { $0 + ($1 - gain) * ($1 - gain) } / (count - 1)
            return gain > 2 * (variance / count).squareRoot()
        }

        private static func logarithm(_ errors: [Double]) -> Double {
            errors.reduce(0) { $0 + log(max($1, 0.5)) } / Double(max(1, errors.count))
        }
    }

    private func judge(_ folds: [Fold], _ name: String, _ progress: ProgressLine) async throws -> Score {
        var judged: [(Walk, SmoothedTrack)] = []
        for fold in folds {
            guard let map = fold.map else { continue }
            judged += zip(fold.left, try await smooth(fold.left, with: map, name + ", judging", progress))
        }
        var all: [[Double]] = []
        var ratios: [Double] = []
        let maps = Dictionary(venue.maps.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for (walk, track) in judged {
            var errors: [Double] = []
            for place in walk.recording.waypoints {
                guard let map = maps[place.mapID] else { continue }
                guard let look = track.look(at: place.instant), let found = maps[look.mapID] else {
                    errors.append(place.point.distance(to: MapPoint(x: map.width / 2, y: map.height / 2)))
                    continue
                }
                let error = look.estimate.point.distance(to: place.point)
                errors.append(error + Self.levelPenalty * Double(abs(found.level - map.level)))
                if found.level == map.level { ratios.append(error / max(look.estimate.radius, 0.1)) }
            }
            all.append(errors)
        }
        // The radius is the 68 % error radius.
        let ratio = ratios.isEmpty ? 1 : ratios.sorted()[Int(Double(ratios.count - 1) * 0.68)]
        return Score(errors: all, doubt: min(max(ratio, 1), Self.mostDoubt))
    }
}
