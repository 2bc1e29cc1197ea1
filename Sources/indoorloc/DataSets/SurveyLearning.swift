import IndoorLocalization
import ScanRecording

/// Learns a radio map from the recordings of a survey.
struct SurveyLearning {
    var learner: RadioMapLearner
    /// Recordings without a place, which teach nothing.
    private(set) var withoutPlaces: [String] = []
    /// Recordings whose places are all on maps that the venue does not have, which teach nothing either.
    private(set) var ofOtherMaps: [String] = []
    /// The recordings that were taken in.
    private(set) var walks: [UnlabelledLearning.Walk] = []
    /// Whether a recording has a place on the venue's maps.
    private(set) var hasPlaces = false
    /// Whether the recordings are kept.
    private let keepsWalks: Bool
    private let venue: Venue
    /// The maps of all places that the venue does not have.
    private var otherMaps: Set<MapID> = []
    private var beacons: Set<BeaconIdentity> = []

    init(venue: Venue, model: SignalModel, keepsWalks: Bool = false) {
        self.venue = venue
        self.keepsWalks = keepsWalks
        learner = RadioMapLearner(venue: venue, model: model)
    }

    /// Takes in recordings, in order.
    ///
    /// - Throws: `RecordingError` of the first that cannot be read, `DataSetError` if they hold too many beacons.
    mutating func add(
        _ paths: [String], strictness: RecordingReader.Strictness, progress: ProgressLine
    ) throws {
        for (index, path) in paths.enumerated() {
            progress.show("survey: recording \(index + 1) of \(paths.count)")
            let recording = try SurveyRecording(path: path, strictness: strictness)
            note(Set(recording.waypoints.map(\.mapID)), of: path)
            try count(recording, path)
            learner.add(recording)
            if keepsWalks { walks.append(UnlabelledLearning.Walk(path: path, recording: recording)) }
        }
        progress.show("survey: learning the radio map")
    }

    /// Refuses more beacons than a radio map may have: a learner takes memory and time for each of them.
    private mutating func count(_ recording: SurveyRecording, _ path: String) throws(DataSetError) {
        for sighting in recording.sightings { beacons.insert(sighting.beacon) }
        let limit = InputLimits.standard.beacons
        guard beacons.count <= limit else {
            throw DataSetError(
                description: "\(path): with it, the recordings hold \(beacons.count) beacons, more than the \(limit) "
                    + "that a radio map may have; leave out those that are none of the venue's")
        }
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
