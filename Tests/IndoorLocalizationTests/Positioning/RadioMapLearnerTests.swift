import XCTest

import IndoorLocalization

final class RadioMapLearnerTests: XCTestCase {
    private typealias Stage = PositioningStage
    private static let powers = [-60.0, -57, -63, -66, -59, -70, -61, -64]

    func testTheLearnerEstimatesTheExponent() throws {
        for exponent in [1.6, 2.2, 3] {
            let recording = Stage.survey(exponent: exponent, noise: 2, seed: 1)
            let map = try XCTUnwrap(Self.learn([recording]))
            XCTAssertEqual(map.pathLossExponent, exponent, accuracy: 0.2)
        }
    }

    func testTheLearnerEstimatesEachBeaconsPower() throws {
        let map = try XCTUnwrap(Self.learn([Stage.survey(powers: Self.powers, noise: 2, seed: 2)]))
        for (index, beacon) in map.beacons.enumerated() {
            XCTAssertEqual(beacon.power, Self.powers[index], accuracy: 1.5, "beacon \(index)")
        }
    }

    func testThePowerOfABeaconDetectedOnceIsShrunkTowardTheMean() throws {
        var recording = Stage.survey(powers: [-60, -60, -60, -60, -60, -60, -60, -40], noise: 0, seed: 2)
        recording.sightings.removeAll { $0.beacon == Stage.identity(7) && $0.instant > Instant(seconds: 4) }
        let map = try XCTUnwrap(Self.learn([recording]))
        // Half its own -40, half the others' -60.
        XCTAssertEqual(map.beacons[7].power, -50, accuracy: 0.5)
    }

    func testAKnownBeaconKeepsThePositionOfThePacket() throws {
        let map = try XCTUnwrap(Self.learn([Stage.survey(noise: 2, seed: 2)]))
        XCTAssertEqual(map.beacons.map(\.point), Stage.beaconPoints)
    }

    func testTheLearnerLocatesAnUnknownBeaconWithinTwoMetres() throws {
        let places = [MapPoint(x: 10, y: 10), MapPoint(x: 8, y: 12), MapPoint(x: 11, y: 7)]
        var venue = Stage.venue
        venue.beacons = []
        let map = try XCTUnwrap(Self.learn([Stage.survey(of: places, noise: 2, seed: 3)], venue: venue))
        for (beacon, place) in zip(map.beacons, places) {
            XCTAssertLessThan(beacon.point.distance(to: place), 2, "\(beacon.point) instead of \(place)")
        }
    }

    func testTheLearnerAssignsAnUnknownBeaconToTheMapOfItsStrongestReadings() throws {
        var venue = Stage.twoFloors
        venue.beacons = []
        var upstairs = Stage.survey(of: [MapPoint(x: 10, y: 10)], on: Stage.gallery, noise: 1, seed: 4)
        upstairs.sightings = upstairs.sightings.map {
            var sighting = $0
            sighting.rssi += 15
            return sighting
        }
        let below = Stage.survey(of: [MapPoint(x: 10, y: 10)], noise: 1, seed: 5)
        let map = try XCTUnwrap(Self.learn([below, upstairs], venue: venue))
        XCTAssertEqual(map.beacons.map(\.mapID), [Stage.gallery])
    }

    func testWithoutPlacesTheLearnerReturnsNoMap() {
        var recording = Stage.survey(noise: 2, seed: 6)
        recording.waypoints = []
        XCTAssertNil(Self.learn([recording]))
        XCTAssertNil(Self.learn([]))
    }

    func testWithoutDetectionsTheLearnerReturnsNoMap() {
        var recording = Stage.survey(noise: 2, seed: 6)
        recording.sightings = []
        XCTAssertNil(Self.learn([recording]))
    }

    func testEqualRecordingsGiveEqualMaps() {
        let recording = Stage.survey(noise: 2, seed: 7)
        XCTAssertEqual(Self.learn([recording]), Self.learn([recording]))
    }

    func testTheLearnerIgnoresPlacesOnUnknownMaps() {
        let known = Stage.survey(noise: 2, seed: 8)
        let unknown = Stage.survey(on: 99, noise: 2, seed: 9)
        XCTAssertEqual(Self.learn([known, unknown]), Self.learn([known]))
    }

    func testEveryPlaceKeepsItsReadings() throws {
        let map = try XCTUnwrap(Self.learn([Stage.survey(noise: 0, seed: 1)]))
        XCTAssertEqual(map.fingerprints.count, 100)
        for place in map.fingerprints {
            XCTAssertEqual(place.readings.map(\.beacon), Array(0..<8))
            for reading in place.readings {
                XCTAssertEqual(reading.count, 4)
                let expected = Stage.rssi(from: Stage.beaconPoints[reading.beacon], to: place.point)
                XCTAssertEqual(reading.rssi, expected, accuracy: 1e-9)
            }
        }
    }

    func testExactPathLossLeavesNoShadowing() throws {
        let map = try XCTUnwrap(Self.learn([Stage.survey(noise: 0, seed: 1)]))
        XCTAssertEqual(map.pathLossExponent, Stage.exponent, accuracy: 0.01)
        for place in map.fingerprints {
            for reading in place.readings { XCTAssertEqual(reading.weight, 0, accuracy: 0.05) }
        }
    }

    func testTheReadingDeviationGrowsWithTheNoise() throws {
        let quiet = try XCTUnwrap(Self.learn([Stage.survey(noise: 3, seed: 10)])?.readingDeviation)
        let noisy = try XCTUnwrap(Self.learn([Stage.survey(noise: 12, seed: 10)])?.readingDeviation)
        XCTAssertGreaterThan(noisy, quiet + 1)
    }

    func testTheLearnerEstimatesTheSurveyorsBodyShadowing() throws {
        for (amplitude, range) in [(0.0, 0.0...1.2), (6, 2.5...5.5)] {
            var recording = Stage.survey(noise: 1, seed: 12)
            var generator = SeededGenerator(seed: 12)
            let facing = recording.waypoints.map { _ in 2 * Double.pi * generator.uniform() }
            recording.sightings = recording.sightings.map { sighting in
                let place = Int(sighting.instant.seconds / 4)
                let way = Stage.beaconPoints[Int(sighting.beacon.minor)] - recording.waypoints[place].point
                let distance = MapPoint(x: 0, y: 0).distance(to: way)
                var shadowed = sighting
                shadowed.rssi += amplitude * (cos(facing[place]) * way.x + sin(facing[place]) * way.y) / distance
                return shadowed
            }
            // 6 dB in a direction of its own at each place: 6/√2 dB along each axis.
            let deviation = try XCTUnwrap(Self.learn([recording])?.fit.bodyDeviation)
            XCTAssertTrue(range.contains(deviation), "\(deviation) dB of \(amplitude), seed 12")
        }
    }

    func testTooFewReadingsGiveNoReadingDeviation() throws {
        var recording = Stage.survey(of: [MapPoint(x: 10, y: 10)], noise: 2, seed: 1)
        recording.waypoints = Array(recording.waypoints.prefix(20))
        recording.sightings = Array(recording.sightings.prefix(80))
        XCTAssertNil(try XCTUnwrap(Self.learn([recording])).readingDeviation)
    }

    private static func learn(_ recordings: [SurveyRecording], venue: Venue = Stage.venue) -> RadioMap? {
        var learner = RadioMapLearner(venue: venue)
        for recording in recordings { learner.add(recording) }
        return learner.finish()
    }
}
