import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

@testable import IndoorPositioning
@testable import LocalizationSession

/// Rooms change by readings. While nothing is received, the point of a position moves toward the middle of the plan.
final class RoomsWithoutEvidenceTests: XCTestCase {
    private static let beacons = [(2.0, 2.0), (10, 2), (18, 2), (2, 10), (10, 10), (18, 10)].enumerated().map {
        index, place in
        VenueBeacon(
            identity: BeaconIdentity(uuid: BeaconUUID(high: 3, low: 4), major: 1, minor: UInt16(index)), mapID: 1,
            point: MapPoint(x: place.0, y: place.1), measuredPower: -59)
    }
    /// A hall of 20 × 12 m with the rooms West, Mid and East, and no walls.
    private static let hall = Venue(
        id: 1, name: "hall", maps: [VenueMap(id: 1, name: "hall", level: 0, width: 20, height: 12)], beacons: beacons,
        rooms: ["West", "Mid", "East"].enumerated().map { index, name in
            let (left, right) = (Double(index) * 20 / 3, Double(index + 1) * 20 / 3)
            let corners = [(left, 0.0), (right, 0), (right, 12), (left, 12)].map { MapPoint(x: $0.0, y: $0.1) }
            return Room(id: index + 1, name: name, mapID: 1, area: .polygon(corners))
        })

    /// Returns the sightings of each beacon at a period, as a carrier in West receives them until an instant in seconds.
    private static func sightings(at place: MapPoint, every period: Double, until end: Double, seed: UInt64)
        -> [Sighting]
    {
        var generator = SeededGenerator(seed: seed)
        return beacons.enumerated().flatMap { index, beacon in
            stride(from: period * Double(index) / 6, to: end, by: period).map { time in
                let distance = max(beacon.point.distance(to: place), 0.5)
                let rssi = -59 - 24 * log10(distance) + 4 * generator.normal()
                return Sighting(instant: Instant(seconds: time), beacon: beacon.identity, rssi: rssi)
            }
        }.sorted { $0.instant < $1.instant }
    }

    /// Returns the room events of a session, with their instants in seconds.
    private static func events(_ sightings: [Sighting], until end: Double, seed: UInt64) -> [(at: Double, text: String)]
    {
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 300
        var replay = SessionReplay(venues: [hall], settings: settings, seed: seed)
        var outputs = replay.start()
        for sighting in sightings { outputs += replay.handle(.sighting(sighting)) }
        outputs += replay.advance(to: Instant(seconds: end))
        return outputs.compactMap { output in
            guard case .event(let event) = output.content else { return nil }
            return (output.instant.seconds, event.kind.description)
        }
    }

    func testNoRoomIsEnteredAfterTheBeaconsFellSilent() {
        for seed in UInt64(1)...3 {
            let sightings = Self.sightings(at: MapPoint(x: 4.7, y: 6), every: 0.5, until: 20, seed: seed)
            let late = Self.events(sightings, until: 70, seed: seed).filter { $0.at > 23 }
            XCTAssertEqual(late.map(\.text), ["exitRoom West"], "seed \(seed): \(late)")
            XCTAssertGreaterThan(late.first?.at ?? 0, 40, "the exit comes when the venue is lost")
        }
    }

    func testBeaconsThatAreRarelyHeardCauseFewRoomEvents() {
        for seed in UInt64(1)...3 {
            let sightings = Self.sightings(at: MapPoint(x: 4.7, y: 6), every: 10, until: 100, seed: seed)
            let events = Self.events(sightings, until: 99, seed: seed)
            XCTAssertLessThanOrEqual(events.count, 7, "seed \(seed): \(events)")
            XCTAssertEqual(events.last?.text, "enterRoom West", "seed \(seed): \(events)")
        }
    }

    func testACarrierAtABorderStaysInOneRoom() {
        for seed in UInt64(1)...3 {
            let sightings = Self.sightings(at: MapPoint(x: 6.4, y: 6), every: 0.5, until: 90, seed: seed)
            let events = Self.events(sightings, until: 89, seed: seed)
            XCTAssertLessThanOrEqual(events.count { $0.text.hasPrefix("enterRoom") }, 3, "seed \(seed): \(events)")
        }
    }

    func testAWalkerEntersTheRoomsOnTheWay() {
        var sightings: [Sighting] = []
        for second in 0..<40 {
            let place = MapPoint(x: min(17, 3 + max(0, Double(second) - 10) * 0.7), y: 6)
            sightings += Self.sightings(at: place, every: 0.5, until: 1, seed: UInt64(second)).map { sighting in
                var later = sighting
                later.instant = sighting.instant.advanced(by: .seconds(second))
                return later
            }
        }
        let events = Self.events(sightings, until: 40, seed: 1).map(\.text)
        XCTAssertEqual(
            events.filter { $0.hasPrefix("enterRoom") }, ["enterRoom West", "enterRoom Mid", "enterRoom East"],
            "\(events)")
    }

    // MARK: - The machines alone

    func testAChangeBeginsOnlyWithANewReading() {
        let areas = [1, 2].map { id in
            let (left, right) = (Double(id - 1) * 5, Double(id) * 5)
            let corners = [(left, 0.0), (right, 0), (right, 5), (left, 5)].map { MapPoint(x: $0.0, y: $0.1) }
            return AreaMachine.Watched(id: id, mapID: 1, area: .polygon(corners))
        }
        var machine = AreaMachine(watched: areas, dwell: .seconds(2))
        let (one, two) = (MapPoint(x: 2, y: 2), MapPoint(x: 7, y: 2))
        func observe(_ point: MapPoint, _ isNew: Bool, _ second: Int) -> [AreaMachine.Change] {
            machine.observe(point, on: 1, isNew: isNew, at: Instant(seconds: Double(second)))
        }
        XCTAssertEqual(observe(one, true, 0), [])
        // A change that began with a reading ends without one.
        XCTAssertEqual(observe(one, false, 2), [.enter(1)])
        for second in 3...60 { XCTAssertEqual(observe(two, false, second), [], "second \(second)") }
        XCTAssertEqual(observe(two, true, 61), [])
        XCTAssertEqual(observe(two, true, 63), [.exit(1), .enter(2)])
    }

    func testAFloorIsReplacedOnlyWithANewReading() {
        var machine = FloorMachine(settings: FloorSettings())
        machine.observe([1: 0.9, 2: 0.1], at: .zero)
        for second in 1...60 {
            machine.observe([1: 0.1, 2: 0.9], isNew: false, at: Instant(seconds: Double(second)))
        }
        XCTAssertEqual(machine.map, 1)
        machine.observe([1: 0.1, 2: 0.9], isNew: true, at: Instant(seconds: 61))
        machine.observe([1: 0.1, 2: 0.9], isNew: false, at: Instant(seconds: 63))
        XCTAssertEqual(machine.map, 2)
    }
}
