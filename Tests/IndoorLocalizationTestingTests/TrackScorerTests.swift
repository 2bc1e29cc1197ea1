import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

/// The scorer's figures compared with figures computed by hand. All errors are whole numbers of metres along x.
final class TrackScorerTests: XCTestCase {
    private let ground: MapID = 1
    private let upper: MapID = 2
    /// The figures are sums of a few small whole numbers; any difference is due to rounding.
    private let tolerance = 1e-9

    /// A venue with two maps of 20 × 10 m, two levels apart.
    private var venue: Venue {
        Venue(
            id: 1, name: "Two floors",
            maps: [
                VenueMap(id: ground, name: "Ground", level: 0, width: 20, height: 10),
                VenueMap(id: upper, name: "Upper", level: 2, width: 20, height: 10),
            ])
    }

    private func truth(_ seconds: Double, x: Double, on map: MapID = 1, isHold: Bool = false) -> Truth {
        Truth(instant: Instant(seconds: seconds), mapID: map, point: MapPoint(x: x, y: 5), isHold: isHold)
    }

    private func position(_ seconds: Double, x: Double, on map: MapID = 1, radius: Double = 1) -> Position {
        Position(
            instant: Instant(seconds: seconds), venueID: 1, mapID: map, point: MapPoint(x: x, y: 5), radius: radius)
    }

    private func score(_ truths: [Truth], end: Double = 100, _ positions: [Position]) -> TrackScore {
        var scorer = TrackScorer(venue: venue)
        scorer.add(truths: truths, end: Instant(seconds: end), positions: positions)
        return scorer.score
    }

    func testAScoreWithoutDataHasNoFigures() {
        for score in [TrackScorer(venue: venue).score, score([], [position(1, x: 1)])] {
            XCTAssertEqual(score.count, 0)
            let figures = [
                score.answered, score.floor, score.mean, score.median, score.p75, score.p90, score.p95, score.ipin,
                score.insideRadius,
            ]
            XCTAssertEqual(figures, Array(repeating: nil, count: figures.count))
        }
    }

    func testTheAnswersHaveTheErrorOnTheRightFloorAndThePositionThatCounts() {
        var scorer = TrackScorer(venue: venue)
        scorer.add(
            truths: [truth(10, x: 5), truth(30, x: 5), truth(60, x: 5)], end: Instant(seconds: 100),
            positions: [position(9, x: 7), position(30, x: 5, on: upper)])
        XCTAssertEqual(scorer.answers.map(\.instant), [10, 30, 60].map { Instant(seconds: $0) })
        XCTAssertEqual(scorer.answers.map(\.error), [2, nil, nil])
        // The second position is on another floor, and the third instant has no position of the last 10 s.
        XCTAssertEqual(
            scorer.answers.map { $0.position?.instant }, [9, 30, nil].map { $0.map { Instant(seconds: $0) } })
    }

    func testTheFiguresOfFiveErrorsEqualThoseComputedByHand() throws {
        // Errors of 1, 2, 3, 4 and 10 m; each radius is 3 m, so three of the five errors are within it.
        let errors = [3.0, 1, 10, 2, 4]
        let truths = errors.indices.map { truth(10 + Double($0), x: 5) }
        let positions = errors.enumerated().map { position(10 + Double($0), x: 5 + $1, radius: 3) }
        let score = score(truths, positions)
        XCTAssertEqual(score.count, 5)
        XCTAssertEqual(score.answered, 1)
        XCTAssertEqual(score.floor, 1)
        XCTAssertEqual(try XCTUnwrap(score.mean), 4, accuracy: tolerance)
        XCTAssertEqual(try XCTUnwrap(score.median), 3, accuracy: tolerance)
        // Interpolated between the sorted errors at the index 4 × share: indices 3, 3.6 and 3.8 of 0 to 4.
        XCTAssertEqual(try XCTUnwrap(score.p75), 4, accuracy: tolerance)
        XCTAssertEqual(try XCTUnwrap(score.p90), 4 + 0.6 * 6, accuracy: tolerance)
        XCTAssertEqual(try XCTUnwrap(score.p95), 4 + 0.8 * 6, accuracy: tolerance)
        XCTAssertEqual(try XCTUnwrap(score.ipin), 4, accuracy: tolerance)
        XCTAssertEqual(try XCTUnwrap(score.insideRadius), 0.6, accuracy: tolerance)
    }

    func testOneErrorIsEveryQuantile() {
        let score = score([truth(10, x: 5)], [position(10, x: 7)])
        for value in [score.mean, score.median, score.p75, score.p90, score.p95, score.ipin] {
            XCTAssertEqual(value, 2)
        }
        XCTAssertEqual(score.insideRadius, 0)
    }

    func testAnErrorEqualToTheRadiusIsInsideTheRadius() {
        XCTAssertEqual(score([truth(10, x: 5)], [position(10, x: 6, radius: 1)]).insideRadius, 1)
        XCTAssertEqual(score([truth(10, x: 5)], [position(10, x: 6, radius: 0.999)]).insideRadius, 0)
    }

    func testWaypointsInTheFirstFiveSecondsAreNotScored() {
        let truths = [truth(0, x: 5), truth(4.999, x: 5), truth(5, x: 5)]
        XCTAssertEqual(score(truths, [position(0, x: 5)]).count, 1)
    }

    func testTheScorerUsesOneWaypointPerSecond() {
        // The scored times are 10, 10.96 (0.96 s later) and 11.92; 11.9 is 0.94 s after the last scored one.
        let truths = [10, 10.5, 10.94, 10.96, 11.9, 11.92].map { truth($0, x: 5) }
        XCTAssertEqual(score(truths, [position(10, x: 5)]).count, 3)
    }

    func testAStayIsScoredOnceAtItsEnd() {
        // The stay from 10 s ends with the next ground truth at 20 s: the position of 19 s counts, which is 1 m off.
        let truths = [truth(10, x: 5, isHold: true), truth(20, x: 8, isHold: true)]
        let positions = [position(11, x: 15), position(19, x: 6), position(29, x: 10)]
        let score = score(truths, end: 30, positions)
        XCTAssertEqual(score.count, 2)
        // The last stay ends with the recording: the position of 29 s is 2 m off.
        XCTAssertEqual(score.mean, 1.5)
    }

    func testAStayIsScoredEvenInTheFirstFiveSeconds() {
        let truths = [truth(0, x: 5, isHold: true), truth(3, x: 5)]
        XCTAssertEqual(score(truths, [position(1, x: 5)]).count, 1)
    }

    func testALaterPositionDoesNotCount() {
        let score = score([truth(10, x: 5)], [position(9, x: 7), position(10.001, x: 5)])
        XCTAssertEqual(score.mean, 2)
    }

    func testAPositionOlderThanTenSecondsIsNotAnAnswer() {
        XCTAssertEqual(score([truth(20, x: 5)], [position(10, x: 6)]).answered, 1)
        let late = score([truth(20, x: 5)], [position(9.999, x: 6)])
        XCTAssertEqual(late.count, 1)
        XCTAssertEqual(late.answered, 0)
        XCTAssertNil(late.floor)
        XCTAssertNil(late.mean)
        // For the competition's score, the map's middle, (10, 5), replaces the answer.
        XCTAssertEqual(late.ipin, 5)
    }

    func testAWrongLevelHasNoErrorButAPenalty() {
        // One is 1 m off on the right level; the other is 3 m off and two levels away: 3 + 2 × 15.
        let score = score([truth(10, x: 5), truth(11, x: 5)], [position(10, x: 6), position(11, x: 8, on: upper)])
        XCTAssertEqual(score.answered, 1)
        XCTAssertEqual(score.floor, 0.5)
        XCTAssertEqual(score.mean, 1)
        XCTAssertEqual(score.insideRadius, 1)
        // The third quartile of 1 and 33.
        XCTAssertEqual(try XCTUnwrap(score.ipin), 25, accuracy: tolerance)
    }

    func testAMapMissingFromTheVenueIsAWrongLevel() {
        let score = score([truth(10, x: 5)], [position(10, x: 5, on: 9)])
        XCTAssertEqual(score.answered, 1)
        XCTAssertEqual(score.floor, 0)
        XCTAssertNil(score.mean)
    }

    func testGroundTruthWithoutAPointIsNotScored() {
        let room = Truth(instant: Instant(seconds: 10), room: "Lobby")
        XCTAssertEqual(score([room], [position(10, x: 5)]).count, 0)
        XCTAssertEqual(score([truth(10, x: 5, on: 9)], [position(10, x: 5)]).count, 0)
    }

    func testTracksAddUpInAnyOrder() {
        let tracks: [([Truth], [Position])] = [
            ([truth(10, x: 5)], [position(10, x: 6)]), ([truth(10, x: 5)], [position(10, x: 8, on: upper)]),
            ([truth(10, x: 5)], []),
        ]
        func total(_ order: [Int]) -> TrackScore {
            var all = TrackScorer(venue: venue)
            for index in order {
                var one = TrackScorer(venue: venue)
                one.add(truths: tracks[index].0, end: Instant(seconds: 10), positions: tracks[index].1)
                all.add(one)
            }
            return all.score
        }
        let score = total([0, 1, 2])
        XCTAssertEqual(score.count, 3)
        XCTAssertEqual(try XCTUnwrap(score.answered), 2.0 / 3, accuracy: tolerance)
        XCTAssertEqual(score.floor, 0.5)
        XCTAssertEqual(score.mean, 1)
        XCTAssertEqual(total([2, 0, 1]), score)
    }
}
