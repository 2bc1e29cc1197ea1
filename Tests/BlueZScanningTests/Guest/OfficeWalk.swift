import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets

/// A simulated walk through the office of the fixtures, as transmissions.
struct OfficeWalk {
    let venue: Venue
    /// The transmissions with their times, in seconds from the start of the walk.
    let schedule: [(at: Double, transmission: Transmission)]
    /// The same walk as readings of a source, with instants counted from the start of the walk.
    let sightings: [Sighting]
    /// The ground truth, with instants counted from the start of the walk.
    let truths: [Truth]
    /// The duration of the walk in seconds.
    let duration: Double

    /// Simulates a walk of `Fixtures/office/paths`.
    ///
    /// - Parameter isExtended: Whether all advertisements are extended, with an additional long one once a second.
    init(_ name: String, seed: UInt64, isExtended: Bool = false) throws {
        venue = try VenuePacketReader().read(FixtureFolder("office").path).venue
        let path = try FixtureFolder("office/paths").file(name + ".json")
        var script = try WalkScript(json: try Data(contentsOf: URL(filePath: path)))
        // Only beacons are sent over the air.
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
        let beacons = sightings.map { sighting in
            var transmission = Transmission.iBeacon(
                sighting.beacon.uuid, major: sighting.beacon.major, minor: sighting.beacon.minor,
                rssi: Int8(sighting.rssi.rounded()))
            transmission.isExtended = isExtended
            return (at: sighting.instant.seconds, transmission: transmission)
        }
        let others = isExtended ? (0..<Int(duration)).map { (at: Double($0), transmission: Self.long) } : []
        schedule = (beacons + others).sorted { $0.at < $1.at }
    }

    /// An advertisement with three fragments, of an unassigned company.
    static let long = Transmission(
        address: DeviceAddress(rawValue: 0xC0FF_EE00_0001, kind: .random), rssi: -77,
        data: (0..<3).flatMap { [172, 0xFF, 0xFF, 0xFF, $0] + [UInt8](repeating: 0x55, count: 168) })

    /// Returns the score of positions against the ground truth.
    ///
    /// - Parameter start: The start of the walk on the timeline of the positions.
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

    /// Returns the score of a session that gets every sighting without delay: the best possible score.
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
