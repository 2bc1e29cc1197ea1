import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Disturbances of recorded readings.
final class DisturbanceTests: XCTestCase {
    private static let uuid = BeaconUUID(high: 1, low: 2)

    /// Two floors with 20 beacons each, in a row with intervals of 5 m.
    private let venue = Venue(
        id: 1, name: "hall",
        maps: [1, 2].map { VenueMap(id: MapID(rawValue: $0), name: "\($0)", level: $0, width: 110, height: 40) },
        beacons: (0..<40).map { index in
            VenueBeacon(
                identity: BeaconIdentity(uuid: uuid, major: 1, minor: UInt16(index)), mapID: index < 20 ? 1 : 2,
                point: MapPoint(x: 5 + 5 * Double(index % 20), y: 20))
        })

    /// Each beacon of the lower floor once a second for a minute; the first is the strongest.
    private var readings: [SensorReading] {
        (0..<60).flatMap { second in
            (0..<20).map { index in
                .sighting(
                    Sighting(
                        instant: Instant(seconds: Double(second) + Double(index) / 100),
                        beacon: venue.beacons[index].identity, rssi: -50 - Double(index)))
            }
        }
    }

    private func disturbed(_ text: String, seed: UInt64 = 1) throws -> (venue: DisturbedVenue, track: DisturbedReadings)
    {
        let disturbances = try text.split(separator: ";").map { try Disturbance(String($0)) }
        let venue = DisturbedVenue(venue, disturbances, seed: seed)
        return (venue, DisturbedReadings(readings, in: venue))
    }

    private func sightings(_ readings: [SensorReading]) -> [Sighting] {
        readings.compactMap { if case .sighting(let sighting) = $0 { sighting } else { nil } }
    }

    func testTheTextFormsAreRead() throws {
        let forms: [String: Disturbance] = [
            "clone=1,-50dBm": .clone(count: 1, rssi: -50, rate: 10, isOtherFloor: false),
            "clone=3,-50,2/s,otherFloor": .clone(count: 3, rssi: -50, rate: 2, isOtherFloor: true),
            "moved=0.2,10m": .moved(share: 0.2, distance: 10), "exchanged=0.2": .exchanged(share: 0.2),
            "dead=0.3": .dead(share: 0.3), "power=+6": .power(difference: 6, share: 0.2),
            "power=-6dB,0.5": .power(difference: -6, share: 0.5), "replay": .replay, "flood=500/s": .flood(rate: 500),
        ]
        for (text, disturbance) in forms { XCTAssertEqual(try Disturbance(text), disturbance, text) }
        let wrong = [
            "", "clone", "clone=1", "clone=1.5,-50dBm", "clone=1,50dBm", "moved=2,10m", "moved=0.2", "dead=x",
            "dead=0.3,1",
            "burnt=1", "flood=0/s",
        ]
        for text in wrong {
            XCTAssertThrowsError(try Disturbance(text), text) { error in
                XCTAssertTrue("\(error)".contains("'\(text)'"), "\(error)")
            }
        }
    }

    func testTheSameSeedGivesTheSameReadings() throws {
        let text = "clone=2,-50dBm;moved=0.2,10m;exchanged=0.2;dead=0.1;power=+6;flood=5/s"
        let (first, second) = (try disturbed(text), try disturbed(text))
        XCTAssertEqual(first.track.readings, second.track.readings)
        XCTAssertEqual(first.venue.venue, second.venue.venue)
        XCTAssertNotEqual(try disturbed(text, seed: 2).track.readings, first.track.readings)
    }

    func testReadingsStayInOrder() throws {
        let instants = try disturbed("clone=3,-50dBm;flood=100/s;replay").track.readings.map(\.instant)
        XCTAssertEqual(instants, instants.sorted())
    }

    func testAMovedBeaconHasAnotherPlaceInThePacketOnly() throws {
        let (moved, track) = try disturbed("moved=0.2,10m")
        let distances = zip(venue.beacons, moved.venue.beacons).map { $0.point.distance(to: $1.point) }
        XCTAssertEqual(distances.filter { abs($0 - 10) < 1e-9 }.count, 8)
        XCTAssertEqual(distances.filter { $0 == 0 }.count, 32)
        XCTAssertEqual(track.readings, readings)
        XCTAssertEqual(track.disturbedBeacons.count, 8)
    }

    func testExchangedBeaconsHaveEachOthersReadings() throws {
        let (_, track) = try disturbed("exchanged=0.5")
        XCTAssertEqual(track.disturbedBeacons.count, 20)
        let before = Dictionary(grouping: sightings(readings), by: \.beacon).mapValues(\.count)
        let after = Dictionary(grouping: sightings(track.readings), by: \.beacon).mapValues { Set($0.map(\.rssi)) }
        for (beacon, levels) in after {
            XCTAssertEqual(levels.count, 1)
            if !track.disturbedBeacons.contains(beacon) {
                XCTAssertEqual(levels, [-50 - Double(beacon.minor)])
                XCTAssertNotNil(before[beacon])
            } else {
                XCTAssertNotEqual(levels, [-50 - Double(beacon.minor)])
            }
        }
    }

    func testDeadBeaconsAreNotReceived() throws {
        let (venue, track) = try disturbed("dead=0.3")
        XCTAssertEqual(venue.dead.count, 12)
        XCTAssertTrue(sightings(track.readings).allSatisfy { !venue.dead.contains($0.beacon) })
        XCTAssertLessThan(track.readings.count, readings.count)
    }

    func testThePowerOfAShareChanges() throws {
        let track = try disturbed("power=+6,0.5").track
        XCTAssertEqual(track.disturbedBeacons.count, 20)
        XCTAssertEqual(sightings(track.readings).count, sightings(readings).count)
        for sighting in sightings(track.readings) {
            let change = track.disturbedBeacons.contains(sighting.beacon) ? 6.0 : 0
            XCTAssertEqual(sighting.rssi, -50 - Double(sighting.beacon.minor) + change)
        }
    }

    func testAClonedBeaconIsFarAwayAndReceivedTenTimesASecond() throws {
        let track = try disturbed("clone=1,-50dBm").track
        let cloned = try XCTUnwrap(track.disturbedBeacons.first)
        XCTAssertEqual(track.disturbedBeacons.count, 1)
        XCTAssertGreaterThanOrEqual(cloned.minor, 15, "of the quarter that is farthest from the first beacon")
        XCTAssertLessThan(cloned.minor, 20, "of the same floor")
        let added = track.readings.count - readings.count
        XCTAssertEqual(Double(added), 600, accuracy: 30)
        let levels = sightings(track.readings).filter { $0.beacon == cloned && $0.rssi > -60 }.map(\.rssi)
        XCTAssertEqual(levels.reduce(0, +) / Double(levels.count), -50, accuracy: 1)
        let other = try disturbed("clone=3,-50dBm,otherFloor").track
        XCTAssertEqual(other.disturbedBeacons.count, 3)
        XCTAssertTrue(other.disturbedBeacons.allSatisfy { $0.minor >= 20 })
    }

    func testAReplayHasTheReadingsBackwards() throws {
        let track = try disturbed("replay").track
        let (forward, backward) = (sightings(readings), sightings(track.readings))
        XCTAssertEqual(backward.map(\.beacon), forward.map(\.beacon).reversed())
        XCTAssertEqual(backward.first?.instant, forward.first?.instant)
        XCTAssertEqual(backward.last?.instant, forward.last?.instant)
    }

    func testAFloodAddsForeignBeacons() throws {
        let track = try disturbed("flood=100/s").track
        let known = Set(venue.beacons.map(\.identity))
        XCTAssertEqual(
            Double(sightings(track.readings).filter { !known.contains($0.beacon) }.count), 6000, accuracy: 300)
        XCTAssertEqual(track.disturbedBeacons, [])
    }
}
