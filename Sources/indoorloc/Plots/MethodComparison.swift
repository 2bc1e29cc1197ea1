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
