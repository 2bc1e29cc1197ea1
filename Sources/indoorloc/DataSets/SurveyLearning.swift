import IndoorLocalization
import ScanRecording

/// Learns a radio map from the recordings of a survey.
struct SurveyLearning {
    var learner: RadioMapLearner
    /// Recordings without a place, which teach nothing.
    private(set) var withoutPlaces: [String] = []
    /// Recordings whose places are all on maps that the venue does not have, which teach nothing either.
    private(set) var ofOtherMaps: [String] = []
    /// Whether a recording has a place on the venue's maps.
    private(set) var hasPlaces = false
    private let venue: Venue
    /// The maps of all places that the venue does not have.
    private var otherMaps: Set<MapID> = []

    init(venue: Venue, model: SignalModel) {
        self.venue = venue
        learner = RadioMapLearner(venue: venue, model: model)
    }

    /// Takes in recordings, in order.
    ///
    /// - Throws: `RecordingError` of the first that cannot be read.
    mutating func add(
        _ paths: [String], strictness: RecordingReader.Strictness, progress: ProgressLine
    ) throws(RecordingError) {
        for (index, path) in paths.enumerated() {
            progress.show("survey: recording \(index + 1) of \(paths.count)")
            let recording = try SurveyRecording(path: path, strictness: strictness)
            note(Set(recording.waypoints.map(\.mapID)), of: path)
            learner.add(recording)
        }
        progress.show("survey: learning the radio map")
    }

    private mutating func note(_ maps: Set<MapID>, of path: String) {
        let known = Set(venue.maps.map(\.id))
        otherMaps.formUnion(maps.subtracting(known))
        if maps.isEmpty {
            withoutPlaces.append(path)
        } else if maps.isDisjoint(with: known) {
            ofOtherMaps.append(path)
        } else {
            hasPlaces = true
        }
    }

    /// Why nothing was learned.
    var reasonForNothing: String {
        if hasPlaces { return "no beacon was heard at the places of the recordings" }
        if otherMaps.isEmpty {
            return "the recordings tell no place at which a beacon was heard: they need truth with mapId, x, y"
        }
        let known = venue.maps.map(\.id.description).joined(separator: ", ")
        let found = otherMaps.sorted().map(\.description).joined(separator: ", ")
        return "the recordings are of another venue: their truth is on maps \(found), and '\(venue.name)' has maps "
            + known
    }
}
