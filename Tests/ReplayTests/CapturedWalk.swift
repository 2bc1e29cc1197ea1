import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets

/// A simulated walk that was sent over the air and captured by btmon.
struct CapturedWalk {
    /// The capture's file.
    let path: String
    /// What was sent, its instants counted from the walk's start.
    let sent: [Sighting]
    /// What the capture holds of it, counted so too.
    let heard: [Sighting]
    /// Advertisements that hold no beacon.
    let others: [Advertisement]
    /// Where the device was, counted so too.
    let truths: [Truth]
    /// How long the walk takes.
    let duration: Duration
    let office: Venue
    let tally: BTSnoopReader.Tally

    /// Reads a capture of `Fixtures/captures/walks`: the walk "one-floor", which its recording holds too.
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
        // The capture began before the walk did.
        let delay = (sent.first?.instant ?? .zero).duration(to: heard.first?.instant ?? .zero)
        self.heard = heard.map { sighting in
            var sighting = sighting
            sighting.instant = sighting.instant.advanced(by: .zero - delay)
            return sighting
        }
        self.others = others
    }

    /// What a session tells of it, and how well that fits the truth.
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

    /// Of the walk that was sent: that of the recording "one-floor".
    static let seed: UInt64 = 101
}
