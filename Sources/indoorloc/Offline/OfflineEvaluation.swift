import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording

/// Scores a data set's tracks twice: as they were told at the time, and after the fact.
struct OfflineEvaluation: Sendable {
    let path: String
    let radioMap: String?
    let isJSON: Bool
    let jobs: Int
    let strictness: RecordingReader.Strictness
    let seed: UInt64
    let settings: LocalizationSettings

    func run() async throws {
        let progress = ProgressLine()
        defer { progress.clear() }
        let dataSet = try DataSet(path: path, radioMap: radioMap)
        var venue = dataSet.venue
        if radioMap == nil, !dataSet.surveys.isEmpty {
            var learning = SurveyLearning(venue: venue, model: settings.positioning.signal)
            try learning.add(dataSet.surveys, strictness: strictness, progress: progress)
            venue.radioMap = learning.learner.finish() ?? venue.radioMap
        }
        progress.show("tables of \(dataSet.name)")
        let field = SignalField(venue: venue, model: settings.positioning.signal)
        let tracks = OfflineTracks(
            venue: venue, field: field, settings: settings, seed: seed, strictness: strictness)
        let (causal, offline) = try await tracks.score(dataSet.tracks, jobs: jobs, progress: progress)
        progress.clear()
        if isJSON {
            var json = JSONText()
            json.add("dataset", dataSet.name)
            json.add("method", settings.positioning.method.rawValue)
            causal.addFigures(to: &json)
            var after = JSONText()
            offline.addFigures(to: &after)
            json.add("offline", after)
            try StandardOutput.write(json.text + "\n")
        } else {
            try StandardOutput.write(causal.figureLine(of: dataSet.name) + "\n")
            try StandardOutput.write(offline.figureLine(of: "\(dataSet.name) offline") + "\n")
        }
    }
}
