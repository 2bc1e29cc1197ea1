import IndoorLocalization
import ScanRecording

/// The learning of a radio map from the recordings of a survey.
struct SurveyLearning {
    var learner: RadioMapLearner
    /// The recordings without a position, which are not used.
    private(set) var withoutPlaces: [String] = []
    /// The recordings whose positions are all on unknown maps, which are not used.
    private(set) var ofOtherMaps: [String] = []
    /// The recordings read, if they are kept.
    private(set) var walks: [UnlabelledLearning.Walk] = []
    /// Whether a recording has a position on the venue's maps.
    private(set) var hasPlaces = false
    /// Whether the recordings are kept.
    private let keepsWalks: Bool
    /// The lowest RSSI in dBm of the readings to learn from.
    var weakestKept = -Double.infinity
    private let venue: Venue
    /// The unknown maps in the recordings.
    private var otherMaps: Set<MapID> = []
    private var beacons: Set<BeaconIdentity> = []

    init(venue: Venue, model: SignalModel, keepsWalks: Bool = false) {
        self.venue = venue
        self.keepsWalks = keepsWalks
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
            note(Set(recording.waypoints.map(\.mapID)), of: path)
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

    /// The reason why nothing was learned.
    var reasonForNothing: String {
        if hasPlaces { return "no beacon was received at the positions in the recordings" }
        if otherMaps.isEmpty {
            return
                "the recordings have no position at which a beacon was received: their ground truth requires mapId, x, y"
        }
        let known = venue.maps.map(\.id.description).joined(separator: ", ")
        let found = otherMaps.sorted().map(\.description).joined(separator: ", ")
        return
            "the recordings are of another venue: their ground truth is on maps \(found), but '\(venue.name)' has maps "
            + known
    }
}
