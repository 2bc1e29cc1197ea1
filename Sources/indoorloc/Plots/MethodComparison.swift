import IndoorLocalization
import IndoorLocalizationTesting
import LocalizationFigures
import ScanRecording

/// The evaluation of the same tracks by several positioning methods.
struct MethodComparison: Sendable {
    /// The results of a method.
    struct Result: Sendable {
        let method: EvaluatedMethod
        let outcomes: [TrackEvaluation.Outcome]
        let score: TrackScore

        /// The errors in the form of a figure.
        var errors: ErrorSeries {
            ErrorSeries(
                name: method.name,
                tracks: outcomes.map { outcome in
                    ErrorSeries.Track(
                        name: PlotSource.name(ofRecording: outcome.path),
                        samples: outcome.causal.answers.map {
                            ErrorSample(instant: $0.instant, error: $0.error, radius: $0.position?.radius.finite)
                        })
                })
        }
    }

    let venue: Venue
    let settings: SettingsStack
    let seed: UInt64
    let strictness: RecordingReader.Strictness
    let conditions: EvaluationConditions
    /// Whether readings are replaced with ones drawn from the model.
    let isIdeal: Bool

    /// The parameters of the simple methods, and the survey as they use it; nil without a simple method.
    var simple: (settings: SimpleMethodSettings, survey: SimpleSurvey)?

    /// Returns the evaluation by a method.
    func evaluation(by method: EvaluatedMethod, field: SignalField) throws -> TrackEvaluation {
        var settings = settings
        var locator: SimpleLocator?
        switch method {
        case .engine(let method):
            // The settings may already give the method, for example those of the venue.
            if settings.resolved(in: venue).localization.positioning.method != method {
                try settings.override("positioning.method", .string(method.rawValue))
                settings.apply()
            }
        case .simple(let method):
            locator = simple.map { SimpleLocator(method, settings: $0.settings, venue: venue, survey: $0.survey) }
        }
        return TrackEvaluation(
            venue: venue, field: field, settings: settings, seed: seed, strictness: strictness, isIdeal: isIdeal,
            conditions: conditions, isOffline: false, replays: [:], locator: locator)
    }

    /// Returns the results of the methods, in their order.
    func results(
        of methods: [EvaluatedMethod], _ tracks: [String], jobs: Int, _ progress: ProgressLine
    ) async throws -> [Result] {
        let field = SignalField(venue: venue, model: settings.resolved(in: venue).localization.positioning.signal)
        var results: [Result] = []
        for method in methods {
            let evaluation = try evaluation(by: method, field: field)
            let outcomes = try await evaluation.outcomes(of: tracks, jobs: jobs, progress: progress)
            results.append(
                Result(method: method, outcomes: outcomes, score: evaluation.scores(of: outcomes).causal))
        }
        return results
    }
}

extension Double {
    /// The number; nil if it is not finite.
    fileprivate var finite: Double? { isFinite ? self : nil }
}

extension TrackScore {
    /// The accuracy in a sentence.
    var caption: String {
        guard count > 0 else { return "The recording has no ground truth to compare with." }
        guard let median, let p90 else {
            return "No position is on the right floor at the \(count.counting("instant")) with a ground truth."
        }
        func metres(_ value: Double) -> String { JSONText.number(value, decimals: 2) + " m" }
        let errors = "Median error \(metres(median)), 90 % of the errors are at most \(metres(p90))"
        guard let insideRadius else { return "\(errors) (\(count.counting("instant")) with a ground truth)." }
        let inside = JSONText.number(insideRadius * 100, decimals: 0)
        return
            "\(errors), and \(inside) % of the true "
            + "positions lie within the 68 % radius (\(count.counting("instant")) with a ground truth)."
    }

    /// The main figures in a few words.
    var summary: String {
        func metres(_ value: Double?) -> String { value.map { JSONText.number($0, decimals: 2) + " m" } ?? "–" }
        func percent(_ value: Double?) -> String { value.map { JSONText.number($0 * 100, decimals: 0) + " %" } ?? "–" }
        return "mean \(metres(mean)), median \(metres(median)), P90 \(metres(p90)); \(percent(answered)) answered, "
            + "\(percent(floor)) on the right floor, \(percent(insideRadius)) in the radius; n = \(count)"
    }
}
