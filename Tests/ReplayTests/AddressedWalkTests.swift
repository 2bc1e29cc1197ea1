import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

/// A walk whose beacons advertise only their address.
final class AddressedWalkTests: XCTestCase {
    /// Returns the office, whose beacons all have an address.
    private func office() throws -> Venue {
        var office = try VenuePacketReader().read(FixtureFolder("office").path).venue
        for index in office.beacons.indices {
            office.beacons[index].address = DeviceAddress(rawValue: 0xC000_0000_0000 + UInt64(index), kind: nil)
        }
        return office
    }

    private func positions(of readings: [SensorReading], in venue: Venue) -> [Position] {
        var replay = SessionReplay(venues: [venue], seed: 1)
        var outputs = replay.start()
        for reading in readings { outputs += replay.handle(reading) }
        outputs += replay.finish()
        return outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
    }

    func testAddressesGiveTheSamePositionsAsIdentities() throws {
        let venue = try office()
        let addresses = Dictionary(uniqueKeysWithValues: venue.beacons.map { ($0.identity, $0.address) })
        var reader = try RecordingReader(path: FixtureFolder("recordings/one-floor").file("scan.jsonl.gz"))
        var (identified, addressed): ([SensorReading], [SensorReading]) = ([], [])
        while let entry = try reader.next() {
            guard case .measurement(let reading) = entry else { continue }
            guard case .sighting(var sighting) = reading, let address = addresses[sighting.beacon] ?? nil else {
                identified.append(reading)
                addressed.append(reading)
                continue
            }
            sighting.measuredPower = nil
            sighting.address = address
            identified.append(.sighting(sighting))
            addressed.append(
                .advertisement(
                    Advertisement(instant: sighting.instant, address: address, rssi: sighting.rssi, data: [2, 1, 6])))
        }
        let expected = positions(of: identified, in: venue)
        XCTAssertGreaterThan(expected.count, 20)
        XCTAssertEqual(positions(of: addressed, in: venue), expected)
        // Without addresses in the venue packet, such a recording contains no beacon.
        var unaddressed = venue
        for index in unaddressed.beacons.indices { unaddressed.beacons[index].address = nil }
        XCTAssertEqual(positions(of: addressed, in: unaddressed), [])
    }

    func testAVenueThatKnowsItsBeaconsByAddressAloneLocatesAsWellAsWithIdentities() throws {
        let venue = try office()
        var nameless = venue
        nameless.beacons = try venue.beacons.map { beacon in
            VenueBeacon(
                address: try XCTUnwrap(beacon.address), mapID: beacon.mapID, point: beacon.point, z: beacon.z,
                measuredPower: beacon.measuredPower, pathLossExponent: beacon.pathLossExponent)
        }
        let addresses = Dictionary(uniqueKeysWithValues: venue.beacons.map { ($0.identity, $0.address) })
        var reader = try RecordingReader(path: FixtureFolder("recordings/one-floor").file("scan.jsonl.gz"))
        let entries = try reader.readAll()
        let truths = entries.compactMap { if case .truth(let truth) = $0 { truth } else { nil } }
        let identified = entries.compactMap { if case .measurement(let reading) = $0 { reading } else { nil } }
        let addressed = identified.map { reading -> SensorReading in
            guard case .sighting(let sighting) = reading, let address = addresses[sighting.beacon] ?? nil else {
                return reading
            }
            return .advertisement(
                Advertisement(instant: sighting.instant, address: address, rssi: sighting.rssi, data: [2, 1, 6]))
        }
        let end = try XCTUnwrap(entries.compactMap(\.instant).max())
        let errors = try [(identified, venue), (addressed, nameless)].map { readings, venue in
            var scorer = TrackScorer(venue: venue)
            scorer.add(truths: truths, end: end, positions: positions(of: readings, in: venue))
            return try XCTUnwrap(scorer.score.mean)
        }
        print("mean error \(errors[0]) m with identities, \(errors[1]) m with addresses alone")
        XCTAssertLessThan(errors[1], 1.1 * errors[0])
    }
}
