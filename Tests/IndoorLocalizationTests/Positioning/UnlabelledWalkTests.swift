import XCTest

@testable import IndoorPositioning
import IndoorLocalization

/// What a recording without truth teaches, at the places that a smoother has found.
final class UnlabelledWalkTests: XCTestCase {
    private typealias Stage = PositioningStage

    /// The left half of the hall, surveyed.
    private static let half: SurveyRecording = {
        var recording = Stage.survey(noise: 1, seed: 31)
        recording.waypoints = recording.waypoints.filter { $0.point.x < 10 }
        return recording
    }()

    func testAnUnlabelledWalkAddsPlacesOutsideTheSurvey() throws {
        let without = try XCTUnwrap(Self.learn(radius: nil))
        let with = try XCTUnwrap(Self.learn(radius: 1))
        XCTAssertLessThan(Self.error(of: with), Self.error(of: without))
        XCTAssertGreaterThan(with.fingerprints.filter { $0.point.x > 10 }.count, 10)
    }

    func testAPlaceHasTheUncertaintyOfTheSmoother() throws {
        let places = try XCTUnwrap(Self.learn(radius: 3.02)).fingerprints.filter { $0.point.x > 10 }
        XCTAssertFalse(places.isEmpty)
        for place in places { XCTAssertEqual(place.deviation, 2, accuracy: 1e-9) }
        let doubted = try XCTUnwrap(Self.learn(radius: 3.02, doubt: 1.5)).fingerprints.filter { $0.point.x > 10 }
        for place in doubted { XCTAssertEqual(place.deviation, 3, accuracy: 1e-9) }
    }

    func testAnUncertainPlaceHasLessInfluence() throws {
        let weights = try [0.5, 3, 9].map { radius in
            try XCTUnwrap(Self.learn(radius: radius)).fingerprints.filter { $0.point.x > 10 }
                .flatMap(\.readings).reduce(0) { $0 + abs($1.weight) }
        }
        XCTAssertGreaterThan(weights[0], weights[1])
        XCTAssertGreaterThan(weights[1], weights[2])
    }

    func testTheLearnerIgnoresVeryUncertainPlaces() {
        XCTAssertEqual(Self.learn(radius: 1.51 * 8.1), Self.learn(radius: nil))
        XCTAssertEqual(Self.learn(radius: 1, probability: 0.8), Self.learn(radius: nil), "maybe on another level")
        XCTAssertEqual(Self.learn(radius: 1, map: 99), Self.learn(radius: nil), "on a map of another venue")
    }

    func testTheLearnerIgnoresTheGroundTruthOfAnUnlabelledWalk() throws {
        var liar = Self.walk
        liar.waypoints = [
            SurveyRecording.Waypoint(instant: .zero, mapID: Stage.hall, point: MapPoint(x: 1, y: 1), isHold: true)
        ]
        XCTAssertEqual(Self.learn(radius: 1, walk: liar), Self.learn(radius: 1))
    }

    func testTheSurveyAloneDeterminesTheModelsParameters() throws {
        let (without, with) = (try XCTUnwrap(Self.learn(radius: nil)), try XCTUnwrap(Self.learn(radius: 1)))
        XCTAssertEqual(try XCTUnwrap(with.readingDeviation), try XCTUnwrap(without.readingDeviation), accuracy: 0.5)
    }

    /// What is heard in the right half.
    private static let walk: SurveyRecording = {
        var recording = Stage.survey(noise: 1, seed: 32)
        let stays = recording.waypoints.filter { $0.point.x > 10 }
        recording.sightings = recording.sightings.filter { sighting in
            stays.contains { (0..<4).contains($0.instant.duration(to: sighting.instant).seconds) }
        }
        recording.waypoints = []
        return recording
    }()

    private static func learn(
        radius: Double?, doubt: Double = 1, probability: Double = 1, map: MapID = Stage.hall,
        walk: SurveyRecording = UnlabelledWalkTests.walk
    ) -> RadioMap? {
        var learner = RadioMapLearner(venue: Stage.venue)
        learner.add(half)
        if let radius {
            let looks = Stage.survey(noise: 0, seed: 1).waypoints.filter { $0.point.x > 10 }.flatMap { stay in
                [0.0, 4].map { later in
                    SmoothedTrack.Look(
                        instant: Instant(seconds: stay.instant.seconds + later), mapID: map, probability: probability,
                        estimate: PositioningEngine.Estimate(at: stay.point, radius: radius))
                }
            }
            learner.add(walk, along: SmoothedTrack(looks: looks), doubt: doubt)
        }
        return learner.finish()
    }

    /// Mean distance in dB of what the map expects to what is heard, in the half that was not surveyed.
    private static func error(of map: RadioMap) -> Double {
        var venue = Stage.venue
        venue.radioMap = map
        let field = SignalField(venue: venue)
        var errors: [Double] = []
        for (index, beacon) in Stage.beaconPoints.enumerated() {
            for x in stride(from: 12.0, through: 18, by: 2) {
                let point = MapPoint(x: x, y: 9)
                guard let told = field.expectation(of: index, at: point, on: Stage.hall) else { continue }
                errors.append(abs(told.rssi - Stage.rssi(from: beacon, to: point)))
            }
        }
        return errors.reduce(0, +) / Double(errors.count)
    }
}
