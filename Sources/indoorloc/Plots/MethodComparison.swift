import IndoorLocalization
import IndoorLocalizationTesting
import LocalizationFigures
import ScanRecording

/// The evaluation of the same tracks by several positioning methods.
struct MethodComparison: Sendable {
    /// The results of a method.
    struct Result: Sendable {
        let method: PositioningMethod
        let outcomes: [TrackEvaluation.Outcome]
        let score: TrackScore

        /// The errors in the form of a figure.
        var errors: ErrorSeries {
            ErrorSeries(
                name: method.rawValue,
                tracks: outcomes.map { outcome in
                    ErrorSeries.Track(
                        name: PlotSource.name(ofRecording: outcome.path),
                        samples: outcome.causal.answers.map {
                            ErrorSample(instant: $0.instant, error: $0.error, radius: $0.position?.radius)
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

    /// Returns the results of the methods, in their order.
    func results(
        of methods: [PositioningMethod], _ tracks: [String], jobs: Int, _ progress: ProgressLine
    ) async throws -> [Result] {
        let field = SignalField(venue: venue, model: settings.resolved(in: venue).localization.positioning.signal)
        var results: [Result] = []
        for method in methods {
            var settings = settings
            try settings.override("positioning.method", .string(method.rawValue))
            settings.apply()
            let evaluation = TrackEvaluation(
                venue: venue, field: field, settings: settings, seed: seed, strictness: strictness, isIdeal: isIdeal,
                conditions: conditions, isOffline: false, replays: [:])
            let outcomes = try await evaluation.outcomes(of: tracks, jobs: jobs, progress: progress)
            results.append(
                Result(method: method, outcomes: outcomes, score: evaluation.scores(of: outcomes).causal))
        }
        return results
    }
}

extension TrackScore {
    /// The accuracy in a sentence.
    var caption: String {
        guard count > 0 else { return "The recording has no ground truth to compare with." }
        guard let median, let p90, let insideRadius else {
            return "No position is on the right floor at the \(count.counting("instant")) with a ground truth."
        }
        func metres(_ value: Double) -> String { JSONText.number(value, decimals: 2) + " m" }
        let inside = JSONText.number(insideRadius * 100, decimals: 0)
        return
            "Median error \(metres(median)), 90 % of the errors are at most \(metres(p90)), and \(inside) % of the true "
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
