import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class FingerprintCutterTests: XCTestCase {
    private let cutter = FingerprintCutter()

    func testAStayLastsUntilTheNextWaypoint() {
        let pieces = cutter.pieces(of: recording([hold(at: 0, x: 1), hold(at: 10, x: 5)], end: 12))
        expectClose(pieces.first?.duration, 10, within: 1e-9)
    }

    func testTheLastStayLastsUntilTheRecordingsEnd() {
        let pieces = cutter.pieces(of: recording([hold(at: 0, x: 1), hold(at: 10, x: 5)], end: 17))
        expectClose(pieces.last?.duration, 7, within: 1e-9)
    }

    func testAStayOfZeroLengthHasTheMinimumDuration() {
        let pieces = cutter.pieces(of: recording([hold(at: 3, x: 1)], end: 3))
        XCTAssertEqual(pieces.map(\.duration), [cutter.shortestStay])
    }

    func testAStayContainsOnlyItsOwnSightings() {
        let heard = [heard(at: 1, -50), heard(at: 9, -60), heard(at: 11, -90)]
        let pieces = cutter.pieces(of: recording([hold(at: 0, x: 1), hold(at: 10, x: 5)], heard, end: 12))
        let reading = pieces.first?.readings[PositioningStage.identity(0)]
        XCTAssertEqual(reading?.count, 2)
        expectClose(reading?.sum, -110, within: 1e-9)
    }

    func testTheCutterOmitsASightingWithoutRSSI() {
        let heard = [heard(at: 1, 127), heard(at: 2, .nan), heard(at: 3, -70)]
        let pieces = cutter.pieces(of: recording([hold(at: 0, x: 1)], heard, end: 5))
        XCTAssertEqual(pieces.first?.readings[PositioningStage.identity(0)]?.count, 1)
    }

    func testAnInterruptionOfYearsEndsAWalk() {
        let points = [walk(at: 0, x: 0), walk(at: 4, x: 4), walk(at: 1e9, x: 8), walk(at: 1e9 + 4, x: 12)]
        XCTAssertEqual(cutter.pieces(of: recording(points)).map(\.duration), [2, 2, 2, 2])
    }

    func testAWalkIsCutIntoPiecesOfTwoSeconds() {
        let pieces = cutter.pieces(of: recording([walk(at: 0, x: 0), walk(at: 10, x: 10)]))
        XCTAssertEqual(pieces.map(\.duration), [2, 2, 2, 2, 2])
    }

    func testAPieceOfAWalkLiesWhereTheWalkerWasInItsMiddle() {
        let pieces = cutter.pieces(of: recording([walk(at: 0, x: 0), walk(at: 10, x: 10)]))
        XCTAssertEqual(pieces.map { ($0.point.x * 1000).rounded() / 1000 }, [1, 3, 5, 7, 9])
    }

    func testTheCutterOmitsARemainderShorterThanHalfAPiece() {
        let pieces = cutter.pieces(of: recording([walk(at: 0, x: 0), walk(at: 4.9, x: 10)]))
        XCTAssertEqual(pieces.count, 2)
    }

    func testTheCutterOmitsAPieceBetweenTwoMaps() {
        let points = [
            walk(at: 0, x: 0), walk(at: 4, x: 4), walk(at: 8, x: 4, on: PositioningStage.gallery),
            walk(at: 12, x: 8, on: PositioningStage.gallery),
        ]
        let pieces = cutter.pieces(of: recording(points))
        XCTAssertEqual(pieces.map(\.mapID), [1, 1, 2, 2])
        XCTAssertEqual(pieces.map { ($0.point.x * 1000).rounded() / 1000 }, [1, 3, 5, 7])
    }

    func testAWalkThatEndsInAStayLeadsToItsPlace() {
        let pieces = cutter.pieces(of: recording([walk(at: 0, x: 0), hold(at: 4, x: 8)], end: 10))
        let places = Set(pieces.map { ($0.point.x * 1000).rounded() / 1000 })
        XCTAssertEqual(places, [2, 6, 8])
    }

    func testAStayContainsNoPiecesOfAWalk() {
        let points = [walk(at: 0, x: 0), hold(at: 4, x: 4), walk(at: 10, x: 4), walk(at: 14, x: 8)]
        let pieces = cutter.pieces(of: recording(points))
        XCTAssertEqual(pieces.map { ($0.point.x * 1000).rounded() / 1000 }.sorted(), [1, 3, 4, 5, 7])
    }

    func testARecordingWithoutWaypointsHasNoPieces() {
        XCTAssertTrue(cutter.pieces(of: recording([], [heard(at: 1, -50)])).isEmpty)
    }

    func testASingleWaypointGivesNoPiece() {
        XCTAssertTrue(cutter.pieces(of: recording([walk(at: 1, x: 2)], [heard(at: 1, -50)], end: 9)).isEmpty)
    }

    private func hold(at seconds: Double, x: Double) -> SurveyRecording.Waypoint {
        SurveyRecording.Waypoint(
            instant: Instant(seconds: seconds), mapID: PositioningStage.hall, point: MapPoint(x: x, y: 0), isHold: true)
    }

    private func walk(
        at seconds: Double, x: Double, on map: MapID = PositioningStage.hall
    ) -> SurveyRecording.Waypoint {
        SurveyRecording.Waypoint(
            instant: Instant(seconds: seconds), mapID: map, point: MapPoint(x: x, y: 0), isHold: false)
    }

    private func heard(at seconds: Double, _ rssi: Double) -> Sighting {
        Sighting(instant: Instant(seconds: seconds), beacon: PositioningStage.identity(0), rssi: rssi)
    }

    private func recording(
        _ points: [SurveyRecording.Waypoint], _ sightings: [Sighting] = [], end: Double? = nil
    ) -> SurveyRecording {
        SurveyRecording(waypoints: points, sightings: sightings, end: end.map { Instant(seconds: $0) })
    }
}
