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
    ///
    /// - Parameter isExtended: whether all is sent as extended advertisements, and a long one once a second in between.
    init(_ name: String, seed: UInt64, isExtended: Bool = false) throws {
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

    /// What takes three reports: of a company that is none.
    static let long = Transmission(
        address: DeviceAddress(rawValue: 0xC0FF_EE00_0001, kind: .random), rssi: -77,
        data: (0..<3).flatMap { [172, 0xFF, 0xFF, 0xFF, $0] + [UInt8](repeating: 0x55, count: 168) })

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
