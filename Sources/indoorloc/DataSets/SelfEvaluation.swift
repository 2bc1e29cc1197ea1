import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording

/// The scores of a data set's tracks without a survey, with values learned without ground truth, and with the survey:
/// `evaluate --self`.
struct SelfEvaluation {
    let dataSet: DataSet
    let settings: SettingsStack
    let strictness: RecordingReader.Strictness
    let jobs: Int
    /// The number of recordings to learn from; nil for all.
    let count: Int?

    /// The scores with several seeds, in the order of the seeds.
    struct Result {
        var seeds: [UInt64] = []
        /// The number of recordings learned from.
        var recordings = 0
        var without: [TrackScore] = []
        /// The scores with the learned values, whether they are adopted or not.
        var learned: [TrackScore] = []
        /// The scores with the values that are used: the learned ones where they are adopted.
        var used: [TrackScore] = []
        var surveyed: [TrackScore] = []
        var verdicts: [SelfLearningVerdict] = []
    }

    /// The recordings to learn from: the walks of the data set, or without any, its survey without the ground truth.
    private func recordings(seed: UInt64) throws -> [String] {
        let all = dataSet.walks.isEmpty ? dataSet.surveys : dataSet.walks
        guard !all.isEmpty else {
            throw CommandError(
                description: "\(dataSet.name): --self requires recordings in survey or walks to learn from")
        }
        guard let count, count < all.count else { return all }
        var generator = SeededGenerator(seed: seed)
        return all.indices.shuffled(using: &generator).prefix(count).sorted().map { all[$0] }
    }

    /// Learns and scores with each seed; the seed also selects the recordings to learn from.
    func result(seeds: [UInt64], progress: ProgressLine) async throws -> Result {
        var result = Result()
        var venue = dataSet.venue
        venue.radioMap = nil
        let positioning = settings.resolved(in: venue).localization.positioning
        let surveyed = try dataSet.surveyed(
            model: positioning.signal, under: EvaluationConditions(), radioMap: nil, seed: 0, strictness: strictness,
            progress)
        var last: (paths: [String], outcome: SelfLearning.Outcome)?
        for seed in seeds {
            let paths = try recordings(seed: seed)
            if last?.paths != paths {
                let learning = SelfSurvey(venue: venue, settings: positioning, strictness: strictness, jobs: jobs)
                last = (paths, try await learning.learn(from: paths, progress: progress))
            }
            guard let (_, outcome) = last else { continue }
            result.seeds.append(seed)
            result.recordings = paths.count
            result.verdicts.append(outcome.verdict)
            let without = try await score(venue, seed, warns: result.seeds.count == 1, progress)
            let edition = outcome.calibration?.edition(of: venue) ?? venue
            let learned = try await score(edition, seed, progress)
            result.without.append(without)
            result.learned.append(learned)
            result.used.append(outcome.verdict.refusal == nil ? learned : without)
            if surveyed.radioMap != nil { result.surveyed.append(try await score(surveyed, seed, progress)) }
        }
        return result
    }

    /// - Parameter warns: whether misplaced ground truth is reported.
    private func score(
        _ venue: Venue, _ seed: UInt64, warns: Bool = false, _ progress: ProgressLine
    ) async throws -> TrackScore {
        let model = settings.resolved(in: venue).localization.positioning.signal
        let evaluation = TrackEvaluation(
            venue: venue, field: SignalField(venue: venue, model: model), settings: settings, seed: seed,
            strictness: strictness, isIdeal: false, conditions: EvaluationConditions(), isOffline: false, replays: [:])
        let outcomes = try await evaluation.outcomes(of: dataSet.tracks, jobs: jobs, progress: progress)
        if let reason = outcomes.reasonForNoScore(in: venue) {
            throw CommandError(description: "\(dataSet.name): \(reason)")
        }
        if warns { outcomes.misplacedTruths(in: venue).report() }
        return evaluation.scores(of: outcomes).causal
    }
}

extension SelfEvaluation.Result {
    /// The scores by the name of their line.
    private var series: [(name: String, member: String, scores: [TrackScore])] {
        [
            ("without a survey", "without", without),
            ("learned from \(recordings.counting("recording"))", "learned", learned),
            ("with the values adopted", "used", used),
            ("surveyed", "surveyed", surveyed),
        ]
    }

    /// The number of right and wrong decisions of the rule, by the mean errors without and with the learned values.
    private struct Decisions {
        var adopted = 0
        /// The number of adopted values that make the mean error larger by more than the tolerance.
        var adoptedWorse = 0
        var refused = 0
        /// The number of refused values that would make the mean error smaller by more than the tolerance.
        var refusedBetter = 0

        /// The change of the mean error that doesn't count.
        private static let tolerance = 0.01

        init(_ result: SelfEvaluation.Result) {
            for (index, verdict) in result.verdicts.enumerated() {
                let change: Double? =
                    if let before = result.without[index].mean, let after = result.learned[index].mean, before > 0 {
                        after / before - 1
                    } else {
                        nil
                    }
                if verdict.refusal == nil {
                    adopted += 1
                    if let change, change > Self.tolerance { adoptedWorse += 1 }
                } else {
                    refused += 1
                    if let change, change < -Self.tolerance { refusedBetter += 1 }
                }
            }
        }

        var words: String {
            "adopted \(adopted) of \(adopted + refused), of these \(adoptedWorse) worse by more than 1 %; refused "
                + "\(refused), of these \(refusedBetter) better by more than 1 %"
        }

        var json: JSONText {
            var json = JSONText()
            json.add("adopted", adopted)
            json.add("adoptedWorse", adoptedWorse)
            json.add("refused", refused)
            json.add("refusedBetter", refusedBetter)
            return json
        }
    }

    /// The figures, one line for each series, and the decisions of the rule.
    func lines(of name: String, venue: Venue) -> [String] {
        var lines = series.compactMap { series in
            TrackScore.summary(of: series.scores).map {
                $0.means.figureLine(of: "\(name) \(series.name)", deviations: $0.deviations)
            }
        }
        // With all recordings, the seeds have the same decision.
        var last: SelfLearningVerdict?
        for (seed, verdict) in zip(seeds, verdicts) where verdict != last {
            last = verdict
            lines.append("\(name) seed \(seed) \(verdict.words(venue: venue, .beacons))")
            if let gains = verdict.gains(.beacons) { lines.append("\(name) seed \(seed) \(gains)") }
        }
        if seeds.count > 1 { lines.append("\(name) \(Decisions(self).words)") }
        return lines
    }

    /// The figures and the decisions as a JSON object.
    func json(of name: String) -> JSONText {
        var json = JSONText()
        json.add("dataset", name)
        json.add("recordings", recordings)
        json.add("seeds", content: .array(seeds.map { .number(Double($0)) }))
        for series in series {
            guard let (means, deviations) = TrackScore.summary(of: series.scores) else { continue }
            var figures = JSONText()
            means.addFigures(to: &figures)
            if let deviations {
                var spread = JSONText()
                deviations.addFigures(to: &spread, withCount: false)
                figures.add("deviation", spread)
            }
            json.add(series.member, figures)
        }
        json.add("verdicts", verdicts.map(\.json))
        json.add("decisions", Decisions(self).json)
        return json
    }
}
