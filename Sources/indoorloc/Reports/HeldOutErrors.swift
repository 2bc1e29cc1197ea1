import IndoorLocalization
import ScanRecording

/// The errors of survey recordings that were left out of the radio map in turn.
struct HeldOutErrors: Sendable {
    /// The errors of one recording.
    struct Recording: Sendable {
        var path: String
        var errors: [HeldOutSurvey.Error]

        /// The mean error in metres of the positions on the right map; nil without any.
        var mean: Double? { HeldOutErrors.mean(errors.compactMap(\.distance)) }
    }

    /// The recordings in the order of the survey.
    let recordings: [Recording]

    /// The errors of positions on the right map in metres, in ascending order.
    let distances: [Double]
    /// The number of compared places.
    let count: Int

    /// The number of parts of the survey, each of which is left out once. The survey is learned once for each part.
    private static let parts = 4

    /// Learns the survey without each part and locates the part's recordings; nil for recordings from fewer than two
    /// places.
    ///
    /// - Throws: the error of the first recording that can't be read.
    static func measure(
        _ walks: [UnlabelledLearning.Walk], venue: Venue, strictness: RecordingReader.Strictness, jobs: Int,
        progress: ProgressLine
    ) async throws -> HeldOutErrors? {
        let folds = HeldOutSurvey.folds(of: walks.map(\.recording), parts: parts)
        guard !folds.isEmpty else { return nil }
        let parts = try await folds.concurrentMap(
            jobs: jobs, report: { progress.show("report: part \($0) of \(folds.count) left out") }
        ) { _, fold in try errors(of: fold, walks, venue, strictness) }
        let all = parts.flatMap { $0 }.sorted { $0.index < $1.index }
        return HeldOutErrors(recordings: all.map { Recording(path: walks[$0.index].path, errors: $0.errors) })
    }

    private static func errors(
        of fold: HeldOutSurvey.Fold, _ walks: [UnlabelledLearning.Walk], _ venue: Venue,
        _ strictness: RecordingReader.Strictness
    ) throws -> [(index: Int, errors: [HeldOutSurvey.Error])] {
        var learner = RadioMapLearner(venue: venue)
        for index in fold.learned { learner.add(walks[index].recording) }
        guard let map = learner.finish() else { return [] }
        let survey = HeldOutSurvey(venue: venue, radioMap: map)
        let addresses = KnownAddresses(of: venue)
        return try fold.heldOut.map { index in
            var readings: [SensorReading] = []
            let file = try RecordedReadings(path: walks[index].path, strictness: strictness)
            while let reading = try file.next() { readings.append(addresses.named(reading)) }
            return (index, survey.errors(of: walks[index].recording, readings: readings))
        }
    }

    private init(recordings: [Recording]) {
        self.recordings = recordings
        let all = recordings.flatMap(\.errors)
        count = all.count
        distances = all.compactMap(\.distance).sorted()
    }

    /// Returns a quantile of the errors in metres; nil without errors.
    func quantile(_ share: Double) -> Double? {
        distances.isEmpty ? nil : distances[min(Int(Double(distances.count) * share), distances.count - 1)]
    }

    /// The mean error in metres; nil without errors.
    var mean: Double? { Self.mean(distances) }

    /// The share of the places with a position on the right map, in [0, 1].
    var answered: Double { count > 0 ? Double(distances.count) / Double(count) : 0 }

    private static func mean(_ values: [Double]) -> Double? {
        values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
    }

    /// The errors as a sentence; nil without errors.
    var sentence: String? {
        guard let mean, let two = quantile(0.68), let most = quantile(0.95) else { return nil }
        func metres(_ value: Double) -> String { JSONText.number(value, decimals: 1) + " m" }
        return
            "Positions in recordings that were left out of the survey have a mean error of \(metres(mean)), a 68 % error of "
            + "\(metres(two)) and a 95 % error of \(metres(most)); \(JSONText.number(answered * 100, decimals: 0)) % are on the "
            + "right floor."
    }
}
