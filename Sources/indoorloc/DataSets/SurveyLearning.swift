import IndoorLocalization
import ScanRecording

/// Learns a radio map from the recordings of a survey.
struct SurveyLearning {
    var learner: RadioMapLearner
    /// Recordings without a place, which teach nothing.
    private(set) var withoutPlaces: [String] = []

    init(venue: Venue, model: SignalModel) { learner = RadioMapLearner(venue: venue, model: model) }

    /// Takes in recordings, in order.
    ///
    /// - Throws: `RecordingError` of the first that cannot be read.
    mutating func add(
        _ paths: [String], strictness: RecordingReader.Strictness, progress: ProgressLine
    ) throws(RecordingError) {
        for (index, path) in paths.enumerated() {
            progress.show("survey: recording \(index + 1) of \(paths.count)")
            let recording = try SurveyRecording(path: path, strictness: strictness)
            if recording.waypoints.isEmpty { withoutPlaces.append(path) }
            learner.add(recording)
        }
        progress.show("survey: learning the radio map")
    }
}
