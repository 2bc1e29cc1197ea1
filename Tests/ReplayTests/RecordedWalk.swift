import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets

/// A recording of the fixtures, what a session tells of it, and where the device really was.
struct RecordedWalk: Sendable {
    /// The office with nothing but its packet, as whoever has no survey uses it.
    let venue: Venue
    /// What the session told, in order.
    let outputs: [SessionReplay.Output]
    /// Where the device was.
    let truths: [Truth]
    /// When a beacon was heard.
    let sightings: [Instant]
    /// The last instant of the recording.
    let end: Instant

    /// Replays a recording through the office.
    ///
    /// - Parameters:
    ///   - name: its folder within `Fixtures/recordings`.
    ///   - start: where it begins, in the office as the forced venue; nil if beacons tell.
    ///   - venue: the office, where another than the packet as it is read is wanted.
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

    /// The path of a recording.
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

    /// What the session told, of one kind and with its instant.
    private func told<Kind>(_ kind: (SessionReplay.Output.Content) -> Kind?) -> [(instant: Instant, what: Kind)] {
        outputs.compactMap { output in kind(output.content).map { (output.instant, $0) } }
    }

    /// The states that the session went through.
    var states: [(instant: Instant, what: LocalizationState)] {
        told { if case .state(let it) = $0 { it } else { nil } }
    }

    /// The maps on which it was running, one after the other.
    var runningMaps: [MapID] {
        states.compactMap { if case .localizationRunning(let running) = $0.what { running.mapID } else { nil } }
    }

    /// The positions that it told.
    var positions: [Position] { told { if case .position(let it) = $0 { it } else { nil } }.map(\.what) }

    /// How well the positions fit the truth.
    var score: TrackScore {
        var scorer = TrackScorer(venue: venue)
        scorer.add(truths: truths, end: end, positions: positions)
        return scorer.score
    }
}

extension RecordedWalk {
    /// The recordings that stories and limits are about.
    static let names = ["half-silent", "one-floor", "outdoors", "stairs"]

    /// Each is replayed once for all tests, as a debug build takes seconds for it.
    private static let replays = names.reduce(into: [String: Task<RecordedWalk, any Error>]()) { replays, name in
        replays[name] = Task { try await RecordedWalk(name) }
    }

    /// The replay of a recording with the settings and the seed that the command line has by default.
    static func replayed(_ name: String) async throws -> RecordedWalk {
        guard let replay = replays[name] else { return try await RecordedWalk(name) }
        return try await replay.value
    }
}
