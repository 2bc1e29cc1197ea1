import IndoorLocalization
import IndoorLocalizationTesting
import TagTracking
import VenuePackets
import XCTest

/// A tag whose receivers stand at the places of the office's beacons has the positions of the device that carries it.
final class ReversedSessionTests: XCTestCase {
    private func office() throws -> Venue {
        var venue = try VenuePacketReader().read(FixtureFolder("office").path).venue
        venue.receivers = venue.beacons.map { beacon in
            VenueReceiver(
                id: "receiver \(beacon.identity.minor)", identity: beacon.identity, mapID: beacon.mapID,
                point: beacon.point, z: beacon.z, measuredPower: beacon.measuredPower,
                pathLossExponent: beacon.pathLossExponent)
        }
        return venue
    }

    /// The sightings of a recording of the fixtures, which the simulator makes.
    private func sightings(_ name: String, seed: UInt64, in venue: Venue) throws -> [Sighting] {
        let file = try FixtureFolder("office/paths").file(name + ".json")
        let script = try WalkScript(json: Data(contentsOf: URL(filePath: file)))
        return try WalkSimulator(venue: venue, script: script, seed: seed).sensorReadings().compactMap {
            if case .sighting(let sighting) = $0 { sighting } else { nil }
        }
    }

    private func assertSamePositions(_ name: String, seed: UInt64, floors: Int) throws {
        let venue = try office()
        let sightings = try sightings(name, seed: seed, in: venue)
        var replay = SessionReplay(venues: [venue], seed: 12)
        var outputs = replay.start(at: try XCTUnwrap(sightings.first?.instant))
        for sighting in sightings { outputs += replay.handle(.sighting(sighting)) }
        // A device's session begins its positions when it has identified the venue.
        let first = try XCTUnwrap(
            outputs.first { if case .state(.findFloor) = $0.content { true } else { false } }?.instant)

        var tagClass = FleetSettings.TagClass.standard
        tagClass.positionInterval = .milliseconds(500)
        let model = TagModel(venue: venue.forTags, tagClass: tagClass, tables: SharedTables())
        var session = TagSession(model: model, power: nil, seed: 12)
        var workspace = TagWorkspace()
        var (positions, events) = ([Position](), [LocalizationEvent]())
        let receivers = Dictionary(uniqueKeysWithValues: model.venue.beacons.enumerated().map { ($1.identity, $0) })
        var (now, next) = (first, 0)
        while let last = sightings.last?.instant, now < last {
            while next < sightings.count, sightings[next].instant <= now {
                if let receiver = receivers[sightings[next].beacon] {
                    session.observe(
                        receiver: receiver, rssi: sightings[next].rssi, window: .zero, at: sightings[next].instant)
                }
                next += 1
            }
            let update = session.update(to: now, &workspace)
            if let position = update.position { positions.append(position) }
            events += update.events
            now = now.advanced(by: tagClass.positionInterval)
        }
        let expected = outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
        XCTAssertGreaterThan(expected.count, 40)
        XCTAssertEqual(Set(expected.map(\.mapID)).count, floors)
        XCTAssertEqual(positions, expected)
        XCTAssertEqual(
            events, outputs.compactMap { if case .event(let event) = $0.content { event } else { nil } })
        XCTAssertFalse(events.isEmpty)
    }

    func testATagHasThePositionsAndEventsOfADeviceOnOneFloor() throws {
        try assertSamePositions("track-ground", seed: 301, floors: 1)
    }

    func testATagHasThePositionsAndEventsOfADeviceInAnElevator() throws {
        try assertSamePositions("track-elevator", seed: 302, floors: 2)
    }
}
