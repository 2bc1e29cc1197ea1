import IndoorLocalization
import XCTest

@testable import indoorloc

/// The changes of `evaluate` to recorded data.
final class EvaluationConditionsTests: XCTestCase {
    private static let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
    private static let surveys = (0..<10).map { "survey/\($0).jsonl" }

    func testAShiftIsAddedToEachSighting() {
        var conditions = EvaluationConditions()
        conditions.shift = -15
        XCTAssertEqual(conditions.adapted(Self.sighting(-60)), Self.sighting(-75))
        // An RSSI of 127 is not a measurement.
        XCTAssertEqual(conditions.adapted(Self.sighting(127)), Self.sighting(127))
    }

    func testWithoutConditionsReadingsStayAsRecorded() {
        let conditions = EvaluationConditions()
        for reading in Self.readings { XCTAssertEqual(conditions.adapted(reading), reading) }
        XCTAssertEqual(conditions.kept(Self.surveys, seed: 1), Self.surveys)
    }

    func testWithoutMotionOnlyMotionIsRemoved() {
        var conditions = EvaluationConditions()
        conditions.without = [.motion]
        XCTAssertEqual(Self.readings.map { conditions.adapted($0) != nil }, [true, false, false, false, true])
        XCTAssertEqual(conditions.kept(Self.surveys, seed: 1), Self.surveys)
    }

    func testWithoutSurveyRecordingsAndRadioMapAreRemoved() {
        var conditions = EvaluationConditions()
        conditions.without = [.survey]
        XCTAssertEqual(conditions.kept(Self.surveys, seed: 1), [])
        var venue = Venue(id: 1, name: "hall", maps: [], beacons: [])
        venue.radioMap = RadioMap(beacons: [], fingerprints: [], pathLossExponent: 2)
        XCTAssertNil(conditions.adapted(venue).radioMap)
        XCTAssertNotNil(EvaluationConditions().adapted(venue).radioMap)
        for reading in Self.readings { XCTAssertEqual(conditions.adapted(reading), reading) }
    }

    func testAShareOfTheSurveyKeepsThatManyRecordingsInOrder() {
        for (share, count) in [(1.0, 10), (0.5, 5), (0.24, 2), (0.01, 1)] {
            var conditions = EvaluationConditions()
            conditions.surveyShare = share
            for seed in UInt64(1)...4 {
                let kept = conditions.kept(Self.surveys, seed: seed)
                XCTAssertEqual(kept.count, count, "\(share), seed \(seed)")
                XCTAssertEqual(kept, Self.surveys.filter(kept.contains))
                XCTAssertEqual(kept, conditions.kept(Self.surveys, seed: seed), "equal seeds choose the same")
            }
            XCTAssertEqual(conditions.kept([], seed: 1), [])
        }
    }

    func testAReceiverIsDeafToTheWeakestReadings() {
        let levels = (1...10).map { -50 - Double($0) }
        XCTAssertEqual(EvaluationConditions.weakestKept(of: levels, deafness: 0.3), -57)
        XCTAssertEqual(EvaluationConditions.weakestKept(of: levels, deafness: 0), -.infinity)
        XCTAssertEqual(EvaluationConditions.weakestKept(of: [], deafness: 0.3), -.infinity)
        var conditions = EvaluationConditions()
        (conditions.weakestKept, conditions.shift) = (-57, 10)
        // The receiver is deaf before its level is shifted.
        XCTAssertEqual(conditions.adapted(Self.sighting(-57)), Self.sighting(-47))
        XCTAssertNil(conditions.adapted(Self.sighting(-57.5)))
        XCTAssertEqual(conditions.adapted(Self.sighting(127)), Self.sighting(127))
    }

    func testDifferentSeedsKeepDifferentRecordings() {
        var conditions = EvaluationConditions()
        conditions.surveyShare = 0.5
        XCTAssertGreaterThan(Set((UInt64(0)..<20).map { conditions.kept(Self.surveys, seed: $0) }).count, 5)
    }

    private static func sighting(_ rssi: Double) -> SensorReading {
        .sighting(Sighting(instant: .zero, beacon: beacon, rssi: rssi))
    }

    /// A sighting, motion readings, and a fix.
    private static let readings: [SensorReading] = [
        sighting(-60), .motion(MotionSample(instant: .zero, acceleration: Vector3(x: 0, y: 0, z: 9.8))),
        .step(Step(instant: .zero, length: 0.7, heading: 90)),
        .pressure(PressureSample(instant: .zero, hectopascals: 1000)),
        .fix(Fix(instant: .zero, mapID: 1, point: MapPoint(x: 1, y: 2), radius: 1)),
    ]
}
