import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets

/// A recording of the fixtures, the outputs of a session for it, and the ground truth.
struct RecordedWalk: Sendable {
    /// The office with only its venue packet, without a survey.
    let venue: Venue
    /// The session's outputs, in order.
    let outputs: [SessionReplay.Output]
    /// The ground truth.
    let truths: [Truth]
    /// The instants of the sightings.
    let sightings: [Instant]
    /// The last instant of the recording.
    let end: Instant

    /// Replays a recording in the office.
    ///
    /// - Parameters:
    ///   - name: the name of its folder in `Fixtures/recordings`.
    ///   - start: the start position, with the office as the forced venue; nil if beacons determine both.
    ///   - venue: the office to use instead of the one from the venue packet.
    init(
        _ name: String, in venue: Venue? = nil, settings: LocalizationSettings = LocalizationSettings(),
        seed: UInt64 = 0, start: Fix? = nil, tellsMotion: Bool = false
    ) async throws {
        let path = try Self.path(name)
        let venue = try venue ?? Self.office()
        self.venue = venue
        var replay = SessionReplay(venues: [venue], settings: settings, seed: seed, tellsMotion: tellsMotion)
        var outputs = replay.start()
        if let start { outputs += replay.handle(.fix(start)) }
        var sightings: [Instant] = []
        for try await reading in RecordingSource(path: path).readings() {
            if case .sighting = reading { sightings.append(reading.instant) }
            outputs += replay.handle(reading)
        }
        self.outputs = outputs + replay.finish()
        self.sightings = sightings
        (truths, end) = try Self.truths(of: path)
    }

    /// Returns the path of a recording.
    static func path(_ name: String) throws -> String {
        try FixtureFolder("recordings/" + name).file("scan.jsonl.gz")
    }

    private static func office() throws -> Venue { try VenuePacketReader().read(FixtureFolder("office").path).venue }

    private static func truths(of path: String) throws -> (truths: [Truth], end: Instant) {
        var reader = try RecordingReader(path: path)
        var truths: [Truth] = []
        var end = Instant.zero
        while let entry = try reader.next() {
            end = max(end, entry.instant ?? end)
            if case .truth(let truth) = entry { truths.append(truth) }
        }
        return (truths, end)
    }

    /// Returns the outputs of one kind, with their instants.
    private func selected<Kind>(_ kind: (SessionReplay.Output.Content) -> Kind?) -> [(instant: Instant, what: Kind)] {
        outputs.compactMap { output in kind(output.content).map { (output.instant, $0) } }
    }

    /// The states of the session, in order.
    var states: [(instant: Instant, what: LocalizationState)] {
        selected { if case .state(let it) = $0 { it } else { nil } }
    }

    /// The maps on which the session was running, in order.
    var runningMaps: [MapID] {
        states.compactMap { if case .localizationRunning(let running) = $0.what { running.mapID } else { nil } }
    }

    /// The positions that the session reported.
    var positions: [Position] { selected { if case .position(let it) = $0 { it } else { nil } }.map(\.what) }

    /// The score of the positions.
    var score: TrackScore {
        var scorer = TrackScorer(venue: venue)
        scorer.add(truths: truths, end: end, positions: positions)
        return scorer.score
    }
}

extension RecordedWalk {
    /// The recordings with tests of states and limits.
    static let names = ["half-silent", "one-floor", "outdoors", "stairs"]

    /// The replays of all recordings. All tests share them, because a debug build needs seconds for each.
    private static let replays = names.reduce(into: [String: Task<RecordedWalk, any Error>]()) { replays, name in
        replays[name] = Task { try await RecordedWalk(name) }
    }

    /// Returns the replay of a recording with the default settings and the default seed of the command line.
    static func replayed(_ name: String) async throws -> RecordedWalk {
        guard let replay = replays[name] else { return try await RecordedWalk(name) }
        return try await replay.value
    }
}
