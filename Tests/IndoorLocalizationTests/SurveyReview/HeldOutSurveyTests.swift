import IndoorLocalization
import XCTest

final class HeldOutSurveyTests: XCTestCase {
    private func stay(at x: Double) -> SurveyRecording {
        SurveyRecording(
            waypoints: [.init(instant: .zero, mapID: 1, point: MapPoint(x: x, y: 0), isHold: true)], sightings: [])
    }

    func testEachRecordingIsLeftOutOnce() {
        let folds = HeldOutSurvey.folds(of: (0..<10).map { stay(at: Double($0)) }, parts: 4)
        XCTAssertEqual(folds.count, 4)
        XCTAssertEqual(folds.flatMap(\.heldOut).sorted(), Array(0..<10))
        for fold in folds { XCTAssertEqual((fold.learned + fold.heldOut).sorted(), Array(0..<10)) }
        let few = HeldOutSurvey.folds(of: [stay(at: 1), stay(at: 2), stay(at: 3)])
        XCTAssertEqual(few.map(\.heldOut.count), [1, 1, 1])
        XCTAssertEqual(HeldOutSurvey.folds(of: [stay(at: 1)]), [])
    }

    func testStaysAtTheSamePointAreLeftOutTogether() {
        let folds = HeldOutSurvey.folds(of: [1, 2, 1, 2, 3, 1].map { stay(at: $0) }, parts: 3)
        XCTAssertEqual(folds.map(\.heldOut).sorted { $0[0] < $1[0] }, [[0, 2, 5], [1, 3], [4]])
        XCTAssertEqual(HeldOutSurvey.folds(of: [stay(at: 1), stay(at: 1)]), [])
    }

    private func mean(_ hall: SurveyedHall) throws -> Double {
        let recordings = hall.recordings()
        var errors: [Double] = []
        for fold in HeldOutSurvey.folds(of: recordings) {
            var learner = RadioMapLearner(venue: hall.venue)
            for index in fold.learned { learner.add(recordings[index]) }
            let survey = HeldOutSurvey(venue: hall.venue, radioMap: try XCTUnwrap(learner.finish()))
            for index in fold.heldOut {
                let found = survey.errors(of: recordings[index])
                XCTAssertEqual(found.map(\.point), recordings[index].waypoints.map(\.point))
                errors += found.compactMap(\.distance)
            }
        }
        XCTAssertEqual(errors.count, recordings.count)
        return errors.reduce(0, +) / Double(errors.count)
    }

    func testTheErrorOfHeldOutRecordingsGrowsWithTheNoise() throws {
        var hall = SurveyedHall()
        hall.noise = 1
        let quiet = try mean(hall)
        hall.noise = 8
        let loud = try mean(hall)
        XCTAssertLessThan(quiet, 2.1)
        XCTAssertGreaterThan(loud, 1.3 * quiet)
    }

    func testAWalkHasErrorsFromFiveSecondsOn() throws {
        let hall = SurveyedHall()
        let map = try XCTUnwrap(hall.radioMap())
        var generator = SeededGenerator(seed: 4)
        let points = (0...20).map { MapPoint(x: 5 + Double($0), y: 8) }
        let walk = SurveyRecording(
            waypoints: points.enumerated().map { index, point in
                .init(instant: Instant(seconds: Double(index)), mapID: CoverageHall.map, point: point, isHold: false)
            },
            sightings: points.enumerated().flatMap { index, point in
                hall.transmitters.map { transmitter in
                    Sighting(
                        instant: Instant(seconds: Double(index)), beacon: CoverageHall.identity(transmitter.beacon),
                        rssi: CoverageHall.rssi(of: transmitter.point, at: point) + generator.normal())
                }
            })
        let errors = HeldOutSurvey(venue: hall.venue, radioMap: map).errors(of: walk)
        XCTAssertEqual(errors.count, 16)
        let known = errors.compactMap(\.distance)
        XCTAssertEqual(known.count, 16)
        XCTAssertLessThan(known.reduce(0, +) / 16, 3)
    }
}
