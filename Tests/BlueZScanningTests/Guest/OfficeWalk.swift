import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets

/// A simulated walk through the office of the fixtures, ready to be sent over the air.
struct OfficeWalk {
    let venue: Venue
    /// What is sent, and when, in seconds from the walk's start.
    let schedule: [(at: Double, transmission: Transmission)]
    /// The same as a source would deliver it, its instants counted from the walk's start.
    let sightings: [Sighting]
    /// Where the device really is, counted so too.
    let truths: [Truth]
    /// How long the walk takes, in seconds.
    let duration: Double

    /// Simulates a walk of `Fixtures/office/paths`.
    init(_ name: String, seed: UInt64) throws {
        venue = try VenuePacketReader().read(FixtureFolder("office").path).venue
        let path = try FixtureFolder("office/paths").file(name + ".json")
        var script = try WalkScript(json: try Data(contentsOf: URL(filePath: path)))
        // Only beacons come over the air.
        try script.settings.set("sensors.motionRate", to: .number(0))
        let simulator = try WalkSimulator(venue: venue, script: script, seed: seed)
        duration = simulator.duration.seconds
        var sightings: [Sighting] = []
        var truths: [Truth] = []
        for entry in simulator.entries() {
            switch entry {
            case .truth(let truth): truths.append(truth)
            case .measurement(.sighting(let sighting)): sightings.append(sighting)
            default: break
            }
        }
        self.sightings = sightings
        self.truths = truths
        schedule = sightings.map { sighting in
            let transmission = Transmission.iBeacon(
                sighting.beacon.uuid, major: sighting.beacon.major, minor: sighting.beacon.minor,
                rssi: Int8(sighting.rssi.rounded()))
            return (sighting.instant.seconds, transmission)
        }
    }

    /// How well positions fit the truth.
    ///
    /// - Parameter start: the instant of the walk's start on the positions' timeline.
    func score(_ positions: [Position], start: Instant) -> TrackScore {
        var scorer = TrackScorer(venue: venue)
        let shifted = positions.map { position in
            var position = position
            position.instant = Instant.zero.advanced(by: start.duration(to: position.instant))
            return position
        }
        scorer.add(truths: truths, end: Instant(seconds: duration), positions: shifted)
        return scorer.score
    }

    /// What a session says that gets every sighting at once and in full: as good as it can be.
    func replayedScore(seed: UInt64 = 0) -> TrackScore {
        var replay = SessionReplay(venues: [venue], seed: seed)
        var outputs = replay.start()
        for sighting in sightings { outputs += replay.handle(.sighting(sighting)) }
        outputs += replay.finish()
        let positions = outputs.compactMap { output -> Position? in
            if case .position(let position) = output.content { position } else { nil }
        }
        return score(positions, start: .zero)
    }
}
