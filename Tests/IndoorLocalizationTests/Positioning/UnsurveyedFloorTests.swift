import IndoorLocalization
import XCTest
@testable import IndoorPositioning

/// A device is found on a floor that the survey left out, if the floor has beacons.
final class UnsurveyedFloorTests: XCTestCase {
    private typealias Stage = PositioningStage

    /// The attenuation of the ceiling in dB, as of a wooden one.
    private static let ceiling = 8.0

    /// The hall with beacons 0 to 7, and a gallery above it whose beacons are displaced by 3 m and numbered from 8 on.
    private static let building: Venue = {
        var venue = Stage.twoFloors
        for (index, point) in Stage.beaconPoints.enumerated() {
            venue.beacons.append(
                VenueBeacon(
                    identity: Stage.identity(8 + index), mapID: Stage.gallery, point: point + MapPoint(x: 0.7, y: -0.9),
                    measuredPower: Stage.power))
        }
        return venue
    }()

    /// The same building with a survey of one floor, on which the beacons of the other floor are received too.
    private static func surveyed(only map: MapID) -> Venue {
        var venue = building
        var generator = SeededGenerator(seed: 5)
        var (waypoints, sightings): ([SurveyRecording.Waypoint], [Sighting]) = ([], [])
        for index in 0..<100 {
            let (row, column) = index.quotientAndRemainder(dividingBy: 10)
            let place = MapPoint(x: Double(column) * 2 + 1, y: Double(row) * 2 + 1)
            let begin = Double(index) * 4
            waypoints.append(
                SurveyRecording.Waypoint(
                    instant: Instant(seconds: begin), mapID: map, point: place, isHold: true))
            for second in 0..<4 {
                sightings += heard(at: place, on: map, second: begin + Double(second), &generator)
            }
        }
        var learner = RadioMapLearner(venue: venue)
        learner.add(SurveyRecording(waypoints: waypoints, sightings: sightings))
        venue.radioMap = learner.finish()
        return venue
    }

    /// Returns what a receiver hears of all beacons within a second.
    private static func heard(
        at place: MapPoint, on map: MapID, second: Double, _ generator: inout SeededGenerator
    ) -> [Sighting] {
        building.beacons.compactMap { beacon in
            let level =
                Stage.rssi(from: beacon.point, to: place) - (beacon.mapID == map ? 0 : ceiling) + 4 * generator.normal()
            guard level > -95 else { return nil }
            return Sighting(
                instant: Instant(seconds: second + 0.9 * generator.uniform()), beacon: beacon.identity, rssi: level)
        }
    }

    func testADeviceIsFoundOnTheFloorThatWasSurveyedAndOnTheOtherOne() {
        for surveyed in [Stage.hall, Stage.gallery] {
            let venue = Self.surveyed(only: surveyed)
            let field = SignalField(venue: venue)
            for map in [Stage.hall, Stage.gallery] {
                let shares = (UInt64(1)...5).map { Self.share(on: map, of: venue, field, seed: $0) }
                let mean = shares.reduce(0, +) / Double(shares.count)
                XCTAssertGreaterThanOrEqual(mean, 0.97, "map \(map), map \(surveyed) surveyed, seeds 1...5: \(shares)")
            }
        }
    }

    /// Returns the share of the seconds after the fifth one in which the right floor is the most probable.
    private static func share(on map: MapID, of venue: Venue, _ field: SignalField, seed: UInt64) -> Double {
        var settings = PositioningSettings()
        settings.particleCount = 300
        var engine = PositioningEngine(venue: venue, field: field, settings: settings, seed: seed)
        var generator = SeededGenerator(seed: seed &+ 100)
        let place = MapPoint(x: 2 + 16 * generator.uniform(), y: 2 + 16 * generator.uniform())
        var right = 0
        for second in 1...35 {
            for sighting in heard(at: place, on: map, second: Double(second) - 1, &generator) {
                engine.observe(.sighting(sighting))
            }
            engine.advance(to: Instant(seconds: Double(second)))
            if second > 5, engine.mapProbabilities[map] ?? 0 > 0.5 { right += 1 }
        }
        return Double(right) / 30
    }

    func testABeaconHasATableOnAFloorThatNobodySurveyed() {
        let field = SignalField(venue: Self.surveyed(only: Stage.hall))
        for beacon in 0..<8 { XCTAssertNotNil(field.maps[1].tables[beacon], "beacon \(beacon) of the floor below") }
    }

    /// A floor without survey and without beacons isn't meant for positioning. It must not explain what is received
    /// elsewhere.
    func testAFloorWithoutBeaconsStaysLessProbableThanTheSurveyedOne() {
        var venue = Self.surveyed(only: Stage.hall)
        venue.maps.append(Stage.map(3, level: -1))
        XCTAssertEqual(venue.unsurveyedMaps, [Stage.gallery])
        let prior = SurveyPrior(venue: venue)
        let point = MapPoint(x: 7, y: 7)
        XCTAssertEqual(prior.weight(at: point, on: Stage.gallery), 1)
        XCTAssertLessThan(prior.weight(at: point, on: 3), 0.05)
        let field = SignalField(venue: venue)
        XCTAssertGreaterThan(Self.share(on: Stage.hall, of: venue, field, seed: 1), 0.97)
    }

    func testAVenueWithoutASurveyHasNoUnsurveyedMaps() {
        XCTAssertEqual(Self.building.unsurveyedMaps, [])
    }

    func testAFloorWithAnchorsOnlyIsMeantForPositioningToo() {
        var venue = Self.surveyed(only: Stage.hall)
        venue.maps.append(Stage.map(3, level: 2))
        venue.anchors = [VenueAnchor(id: "east", mapID: 3, point: MapPoint(x: 1, y: 1))]
        XCTAssertEqual(venue.unsurveyedMaps, [Stage.gallery, 3])
    }
}
