import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import TagTracking

/// The evaluation of room classifiers, trained on a data set's survey and scored on its tracks.
struct RoomEvaluation: Sendable {
    /// The scores of a classifier trained with one device and tested with one.
    struct Pair: Sendable {
        let trained: String
        let tested: String
        var isSame: Bool { trained == tested }
        /// Each scan by itself.
        var alone = RoomScore()
        /// Each track by itself, from its start.
        var tracks = RoomScore()
        /// All tracks in a row, as one walk from room to room.
        var joined = RoomScore()
        /// Each track with classifiers trained without its rooms.
        var untrained = RoomScore()

        mutating func add(_ other: Pair) {
            alone.add(other.alone)
            tracks.add(other.tracks)
            joined.add(other.joined)
            untrained.add(other.untrained)
        }
    }

    /// The training of each device.
    private(set) var trainings: [String: RoomTrainingSet] = [:]
    /// The stays of each track of each device.
    private var tracks: [String: [[RoomRecording.Stay]]] = [:]
    private let settings: RoomSettings
    private let isReversed: Bool

    /// Reads a data set.
    ///
    /// - Parameter isReversed: whether each beacon is a gateway that hears the device as a tag.
    /// - Throws: `RecordingError`, or `CommandError` if survey or tracks have no room.
    init(
        _ dataSet: DataSet, settings: RoomSettings, isReversed: Bool = false, strictness: RecordingReader.Strictness,
        progress: ProgressLine
    ) throws {
        self.settings = settings
        self.isReversed = isReversed
        let scans = isReversed ? GatewayScanner.scans(of:) : { RoomScan.scans(of: $0) }
        for path in dataSet.surveys {
            progress.show("survey: \(path)")
            let recording = try RoomRecording.reportingWarnings(path, strictness: strictness, scans: scans)
            let training = recording.training
            if !training.rooms.isEmpty { trainings[recording.device ?? "unknown", default: .init()].add(training) }
        }
        for path in dataSet.tracks {
            progress.show("tracks: \(path)")
            let recording = try RoomRecording.reportingWarnings(path, strictness: strictness, scans: scans)
            let stays = recording.stays.filter { $0.room != nil }
            if !stays.isEmpty { tracks[recording.device ?? "unknown", default: []].append(stays) }
        }
        guard !trainings.isEmpty, !tracks.isEmpty else {
            throw CommandError(
                description:
                    "the recordings in \(trainings.isEmpty ? "survey" : "tracks") of \(dataSet.name) have no room: "
                    + "their ground truth requires \"room\"")
        }
    }

    /// The number of trained rooms, of devices with tracks, and of the tracks' scans.
    var extent: (rooms: Int, devices: Int, scans: Int) {
        let rooms = trainings.values.reduce(into: Set()) { $0.formUnion($1.rooms.keys) }
        return (rooms.count, tracks.count, tracks.values.joined().joined().reduce(0) { $0 + $1.scans.count })
    }

    /// The reason why no classifier gives an answer.
    var reasonForNoAnswer: String {
        var all = RoomTrainingSet()
        for training in trainings.values { all.add(training) }
        return all.reasonForNoRoom(in: tracks.values.joined().joined().flatMap(\.scans), training: "the survey")
    }

    /// The pairs of training and test devices: each device with its own training, and with those of other devices.
    ///
    /// A training that several devices share counts as each device's own.
    func pairs() -> [(trained: String, tested: String)] {
        tracks.keys.sorted().flatMap { tested in
            var seen: [RoomTrainingSet] = trainings[tested].map { [$0] } ?? []
            let others = trainings.sorted { $0.key < $1.key }.filter { trained, training in
                guard trained != tested, !seen.contains(training) else { return false }
                seen.append(training)
                return true
            }
            return (trainings[tested] == nil ? [] : [(tested, tested)]) + others.map { ($0.key, tested) }
        }
    }

    /// Scores a classifier on a pair of devices.
    func score(_ kind: ClassifierKind, trained: String, tested: String) -> Pair {
        var pair = Pair(trained: trained, tested: tested)
        guard let training = trainings[trained], let tracks = tracks[tested] else { return pair }
        let memory = classifier(kind, training)
        for track in tracks {
            pair.tracks.add(score([track], memory))
            if kind.hasMemory { pair.alone.add(score([track], classifier(kind, training, remembersRooms: false))) }
        }
        if !kind.hasMemory { pair.alone = pair.tracks }
        pair.joined = score(tracks, memory)
        if kind.hasMemory { pair.untrained = scoreUntrained(kind, training, tracks) }
        return pair
    }

    private func classifier(
        _ kind: ClassifierKind, _ training: RoomTrainingSet, remembersRooms: Bool = true
    ) -> any Classifier {
        isReversed
            ? TagRoomClassifier(training, remembersRooms: remembersRooms)
            : kind.classifier(training, remembersRooms: remembersRooms)
    }

    private func scoreUntrained(
        _ kind: ClassifierKind, _ training: RoomTrainingSet, _ tracks: [[RoomRecording.Stay]]
    ) -> RoomScore {
        var score = RoomScore()
        for track in tracks {
            var others = training
            for stay in track { stay.room.map { others.rooms[$0] = nil } }
            // Without any other room, there is nothing to train.
            if !others.rooms.isEmpty { score.add(self.score([track], classifier(kind, others))) }
        }
        return score
    }

    /// The time between two joined tracks.
    private static let gap = Duration.seconds(2)

    private func score(_ tracks: [[RoomRecording.Stay]], _ fresh: any Classifier) -> RoomScore {
        var score = RoomScore()
        var classifier = fresh
        var belief = RoomBelief(settings)
        var end = Instant.zero
        var previous: String?
        for track in tracks {
            let shift = end.duration(to: .zero)
            for stay in track {
                guard let room = stay.room else { continue }
                let scans = stay.scans.map { scan in
                    var moved = scan
                    moved.instant = scan.instant.advanced(by: .zero - shift)
                    return moved
                }
                score.add(
                    stayIn: room, isChange: previous.map { $0 != room } ?? false, scans: scans,
                    classifier: &classifier, filter: &belief)
                previous = room
                end = scans.last?.instant.advanced(by: Self.gap) ?? end
            }
        }
        return score
    }
}

extension RoomTrainingSet {
    /// Returns the reason why no room was found.
    ///
    /// - Parameter training: the name of the training data, such as its file.
    func reasonForNoRoom(in scans: [RoomScan], training: String) -> String {
        let trained = beacons
        let heard = scans.reduce(into: Set<BeaconIdentity>()) { $0.formUnion($1.rssi.keys) }
        let most = scans.map { $0.rssi.keys.count { trained.contains($0) } }.max() ?? 0
        if heard.isEmpty { return "no beacon was received" }
        if heard.isDisjoint(with: trained) {
            return
                "none of the \(heard.count) received beacons is in \(training); is it the training of another building?"
        }
        if most < FingerprintQuality.neededBeacons {
            return "no scan has \(FingerprintQuality.neededBeacons) beacons of \(training); the most is \(most)"
        }
        return "the scans match none of the rooms of \(training), or a match was too short for the change rule"
    }
}
