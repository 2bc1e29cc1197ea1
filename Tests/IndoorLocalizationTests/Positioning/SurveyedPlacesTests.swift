import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class SurveyedPlacesTests: XCTestCase {
    private typealias Stage = PositioningStage

    func testOnlyOtherWalksPredictAPlaceOfAWalk() {
        let places = places([(0, 1), (0, 2), (1, 1), (1, 30)])
        XCTAssertFalse(places.isApart(0, from: 0))
        XCTAssertFalse(places.isApart(1, from: 0))
        XCTAssertTrue(places.isApart(2, from: 0), "the same point, but of another walk")
        XCTAssertTrue(places.isApart(3, from: 0))
    }

    func testOnlyStaysAtOtherPointsPredictASingleStay() {
        let places = places([(0, 1), (1, 1), (2, 1.005), (3, 1.5)])
        XCTAssertFalse(places.isApart(0, from: 0))
        XCTAssertFalse(places.isApart(1, from: 0), "another stay at the same point")
        XCTAssertFalse(places.isApart(2, from: 0), "half a centimetre beside it")
        XCTAssertTrue(places.isApart(3, from: 0))
    }

    func testAWalkPredictsASingleStay() {
        let places = places([(0, 1), (1, 1), (1, 2)])
        XCTAssertTrue(places.isApart(2, from: 0))
        XCTAssertTrue(places.isApart(0, from: 2))
    }

    func testPlacesOfOtherMapsPredictNothing() {
        var places = places([(0, 1), (0, 2), (1, 3), (1, 4)])
        places.fingerprints[2].mapID = Stage.gallery
        XCTAssertFalse(places.isApart(2, from: 0))
        XCTAssertFalse(places.isApart(0, from: 2))
        XCTAssertTrue(places.isApart(3, from: 0))
    }

    func testTheShareOfSinglesCountsRecordingsThatHaveAPlace() {
        XCTAssertEqual(places([(0, 1), (1, 2), (1, 3)]).shareOfSingles, 0.5)
        XCTAssertEqual(places([(0, 1), (1, 2)]).shareOfSingles, 1)
        XCTAssertEqual(places([(0, 1), (0, 2)]).shareOfSingles, 0)
        // Recordings 0 and 2 have none.
        XCTAssertEqual(places([(1, 1), (3, 2), (3, 3)]).shareOfSingles, 0.5)
        XCTAssertEqual(places([]).shareOfSingles, 0)
    }

    func testASampleWithinTheLimitContainsAllPlaces() {
        XCTAssertEqual(Array(places((0..<7).map { (0, Double($0)) }).sample(7)), Array(0..<7))
        XCTAssertEqual(Array(places([]).sample(7)), [])
    }

    func testALargerSampleIsEvenlySpread() {
        let thirty = places((0..<30).map { (0, Double($0)) })
        XCTAssertEqual(Array(thirty.sample(10)), [0, 3, 6, 9, 12, 15, 18, 21, 24, 27])
        for count in 1...100 {
            let sample = Array(places((0..<count).map { (0, Double($0)) }).sample(10))
            XCTAssertLessThan(sample.count, 20, "of \(count)")
            XCTAssertGreaterThanOrEqual(sample.count, min(count, 10), "of \(count)")
        }
    }

    /// Places along a line, each of a recording and at a distance.
    private func places(_ entries: [(recording: Int, x: Double)]) -> SurveyedPlaces {
        SurveyedPlaces(
            entries.map {
                RadioMap.Fingerprint(mapID: Stage.hall, point: MapPoint(x: $0.x, y: 5), duration: 2, readings: [])
            }, recordings: entries.map(\.recording))
    }
}
