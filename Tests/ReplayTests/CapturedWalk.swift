import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets

/// A simulated walk that was transmitted over the air and captured by btmon.
struct CapturedWalk {
    /// The path of the capture.
    let path: String
    /// The transmitted sightings; their instants start with the walk.
    let sent: [Sighting]
    /// The sightings in the capture, on the same timeline.
    let heard: [Sighting]
    /// The advertisements without a beacon.
    let others: [Advertisement]
    /// The ground truth, on the same timeline.
    let truths: [Truth]
    /// The duration of the walk.
    let duration: Duration
    let office: Venue
    let tally: BTSnoopReader.Tally

    /// Reads a capture of `Fixtures/captures/walks`, which contains the same walk as the recording "one-floor".
    init(_ name: String) throws {
        path = try FixtureFolder("captures/walks/" + name).file("air.btsnoop")
        office = try VenuePacketReader().read(FixtureFolder("office").path).venue
        let document = try FixtureFolder("office/paths").file("one-floor.json")
        let script = try WalkScript(json: try Data(contentsOf: URL(filePath: document)))
        let simulator = try WalkSimulator(venue: office, script: script, seed: Self.seed)
        let entries = simulator.entries()
        duration = simulator.duration
        sent = entries.compactMap { if case .measurement(.sighting(let it)) = $0 { it } else { nil } }
        truths = entries.compactMap { if case .truth(let it) = $0 { it } else { nil } }

        var reader = try BTSnoopReader(path: path)
        var heard: [Sighting] = []
        var others: [Advertisement] = []
        for case .advertisement(let advertisement) in try reader.readAll() {
            if let sighting = try advertisement.sighting() {
                heard.append(sighting)
            } else {
                others.append(advertisement)
            }
        }
        tally = reader.tally
        // The capture began before the walk.
        let delay = (sent.first?.instant ?? .zero).duration(to: heard.first?.instant ?? .zero)
        self.heard = heard.map { sighting in
            var sighting = sighting
            sighting.instant = sighting.instant.advanced(by: .zero - delay)
            return sighting
        }
        self.others = others
    }

    /// Returns the positions that a session reports for the capture, and their score.
    func replayed(seed: UInt64 = 0) -> (positions: [Position], score: TrackScore) {
        var replay = SessionReplay(venues: [office], seed: seed)
        var outputs = replay.start()
        for sighting in heard { outputs += replay.handle(.sighting(sighting)) }
        outputs += replay.finish()
        let positions = outputs.compactMap { if case .position(let it) = $0.content { it } else { nil } }
        var scorer = TrackScorer(venue: office)
        scorer.add(truths: truths, end: Instant.zero.advanced(by: duration), positions: positions)
        return (positions, scorer.score)
    }

    /// The seed of the transmitted walk, which is that of the recording "one-floor".
    static let seed: UInt64 = 101
}
