import IndoorPositioning
import IndoorVocabulary
import LiveSurvey
import VenueModel
import XCTest

/// Which learning of a radio map runs, and what happens to its result.
final class SurveyMapMachineTests: XCTestCase {
    private static let figures = SurveyMapJob.Figures(walks: 3, seconds: 120)

    /// A machine that has learned a map.
    private func learned() throws -> SurveyMapMachine {
        var machine = SurveyMapMachine()
        XCTAssertEqual(try machine.handle(.requested), .learn)
        XCTAssertNil(try machine.handle(.learned(Self.figures)))
        return machine
    }

    private func refusal(
        of event: SurveyMapMachine.Event, by machine: inout SurveyMapMachine
    ) -> SurveyMapMachine.Refusal? {
        do throws(SurveyMapMachine.Refusal) { _ = try machine.handle(event) } catch { return error }
        return nil
    }

    func testARequestStartsALearningThatReportsItsSteps() throws {
        var machine = SurveyMapMachine()
        XCTAssertNil(machine.progress)
        XCTAssertEqual(try machine.handle(.requested), .learn)
        XCTAssertEqual(machine.progress, BackgroundThread.Progress(done: 0, steps: 1))
        XCTAssertNil(try machine.handle(.progressed(done: 2, steps: 5)))
        XCTAssertEqual(machine.progress, BackgroundThread.Progress(done: 2, steps: 5))
        XCTAssertNil(try machine.handle(.learned(Self.figures)))
        XCTAssertNil(machine.progress)
        XCTAssertEqual(machine.figures, Self.figures)
        // A late report of the learning that has ended.
        XCTAssertNil(try machine.handle(.progressed(done: 5, steps: 5)))
        XCTAssertNil(machine.progress)
    }

    func testWalksThatEndDuringALearningStartOneMoreAfterIt() throws {
        var machine = SurveyMapMachine()
        XCTAssertEqual(try machine.handle(.requested), .learn)
        for _ in 0..<3 { XCTAssertNil(try machine.handle(.requested), "one at a time") }
        XCTAssertEqual(try machine.handle(.learned(Self.figures)), .learn)
        XCTAssertEqual(machine.figures, Self.figures, "the earlier result stays until the next one")
        XCTAssertNil(try machine.handle(.learned(Self.figures)), "three requests are one")
    }

    func testAFailureKeepsTheEarlierMapAndSaysWhy() throws {
        var machine = try learned()
        XCTAssertEqual(try machine.handle(.requested), .learn)
        XCTAssertNil(try machine.handle(.failed("No walk.")))
        XCTAssertEqual(machine.problem, "No walk.")
        XCTAssertEqual(machine.figures, Self.figures)
        XCTAssertEqual(try machine.handle(.requested), .learn)
        XCTAssertNil(try machine.handle(.learned(Self.figures)))
        XCTAssertNil(machine.problem)
    }

    func testAMapIsAdoptedOnce() throws {
        var machine = SurveyMapMachine()
        XCTAssertEqual(refusal(of: .adopt, by: &machine), .noMap)
        machine = try learned()
        XCTAssertEqual(try machine.handle(.adopt), .adopt)
        XCTAssertEqual(refusal(of: .adopt, by: &machine), .isChanging)
        XCTAssertEqual(refusal(of: .takeBack, by: &machine), .isChanging)
        XCTAssertNil(try machine.handle(.written(isAdopted: true)))
        XCTAssertTrue(machine.isChanging)
        XCTAssertNil(try machine.handle(.used))
        XCTAssertFalse(machine.isChanging)
        XCTAssertTrue(machine.isAdopted)
        XCTAssertEqual(refusal(of: .adopt, by: &machine), .isInUse)
    }

    func testARefusedAdoptionCanBeTriedAgain() throws {
        var machine = try learned()
        XCTAssertEqual(try machine.handle(.adopt), .adopt)
        XCTAssertNil(try machine.handle(.refused("No space.")))
        XCTAssertEqual(machine.problem, "No space.")
        XCTAssertFalse(machine.isAdopted)
        XCTAssertEqual(try machine.handle(.adopt), .adopt)
        XCTAssertNil(machine.problem)
    }

    func testAMapThatWasTakenBackCanBeAdoptedAgain() throws {
        var machine = try learned()
        for (event, isAdopted) in [
            (SurveyMapMachine.Event.adopt, true), (.takeBack, false), (.adopt, true),
        ] {
            XCTAssertNotNil(try machine.handle(event))
            XCTAssertNil(try machine.handle(.written(isAdopted: isAdopted)))
            XCTAssertNil(try machine.handle(.used))
            XCTAssertEqual(machine.isAdopted, isAdopted)
        }
    }

    func testAMapThatIsLearnedDuringAChangeIsNotInUse() throws {
        var machine = try learned()
        XCTAssertEqual(try machine.handle(.requested), .learn)
        XCTAssertEqual(try machine.handle(.adopt), .adopt)
        XCTAssertNil(try machine.handle(.written(isAdopted: true)))
        XCTAssertNil(try machine.handle(.learned(Self.figures)))
        XCTAssertNil(try machine.handle(.used))
        XCTAssertFalse(machine.isAdopted)
    }

    func testAMapThatTheFleetUsesAlreadyIsNotOffered() throws {
        var machine = SurveyMapMachine()
        XCTAssertEqual(try machine.handle(.requested), .learn)
        XCTAssertNil(try machine.handle(.learned(Self.figures, isInUse: true, problem: "One is left out.")))
        XCTAssertEqual(machine.problem, "One is left out.")
        XCTAssertEqual(refusal(of: .adopt, by: &machine), .isInUse)
    }

    func testALearningWaitsForTheEndOfAChange() throws {
        var machine = try learned()
        XCTAssertEqual(try machine.handle(.adopt), .adopt)
        XCTAssertNil(try machine.handle(.requested))
        XCTAssertNil(try machine.handle(.written(isAdopted: true)))
        XCTAssertEqual(try machine.handle(.used), .learn)
    }

    func testNothingStartsAtTheEndOfTheProcess() throws {
        var machine = SurveyMapMachine()
        XCTAssertEqual(try machine.handle(.requested), .learn)
        XCTAssertNil(try machine.handle(.requested))
        XCTAssertNil(try machine.handle(.stopped))
        XCTAssertNil(try machine.handle(.failed("The process ends.")))
        XCTAssertNil(try machine.handle(.requested))
    }
}

/// What the walks of a survey have not reached.
final class SurveyCoverageTests: XCTestCase {
    private static let venue: Venue = {
        let map = VenueMap(id: 1, name: "Hall", level: 0, width: 30, height: 10)
        func room(_ id: Int, _ left: Double, map: MapID = 1) -> Room {
            Room(
                id: id, name: "Room \(id)", mapID: map,
                area: .polygon(
                    [(left, 0.0), (left + 10, 0), (left + 10, 10), (left, 10)].map { MapPoint(x: $0, y: $1) }))
        }
        let upper = VenueMap(id: 2, name: "Upper", level: 1, width: 30, height: 10)
        return Venue(
            id: 7, name: "House", maps: [map, upper], rooms: [room(1, 0), room(2, 10), room(3, 20), room(4, 0, map: 2)])
    }()

    private func mark(_ x: Double, _ seconds: Double, map: MapID = 1) -> SurveyRecording.Waypoint {
        SurveyRecording.Waypoint(
            instant: Instant(seconds: seconds), mapID: map, point: MapPoint(x: x, y: 5), isHold: false)
    }

    private func coverage(_ walks: [[SurveyRecording.Waypoint]]) -> SurveyCoverage {
        SurveyCoverage(of: walks, in: Self.venue, on: 1)
    }

    func testWithoutWalksEverythingIsMissing() {
        let coverage = coverage([])
        XCTAssertEqual(coverage.unvisitedRooms.map(\.name), ["Room 1", "Room 2", "Room 3", "Room 4"])
        XCTAssertEqual(coverage.gaps.map(\.area), [300])
    }

    func testTheWayBetweenTwoMarksIsSurveyed() {
        let coverage = coverage([[mark(2, 0), mark(28, 30)]])
        XCTAssertEqual(coverage.unvisitedRooms.map(\.name), ["Room 4"])
        // The corners, and the sides beyond three metres: their cells are 2.5 m and 3.5 m from the way.
        XCTAssertTrue(coverage.gaps.flatMap(\.cells).allSatisfy { abs($0.y - 5) > 3 || $0.x < 1 || $0.x > 29 })
        XCTAssertFalse(coverage.gaps.flatMap(\.cells).contains { (5...25).contains($0.x) && abs($0.y - 5) < 3 })
    }

    func testTheWayAcrossALongPauseIsNotSurveyed() {
        XCTAssertEqual(coverage([[mark(2, 0), mark(28, 601)]]).unvisitedRooms.map(\.name), ["Room 2", "Room 4"])
        XCTAssertEqual(coverage([[mark(2, 0)], [mark(28, 30)]]).unvisitedRooms.map(\.name), ["Room 2", "Room 4"])
    }

    func testMarksOutsideOfThePlanDoNotCount() {
        let far = [mark(2, 0), mark(1e12, 10), mark(-1e300, 20), mark(28, 30), mark(28, 40, map: 9)]
        XCTAssertEqual(coverage([far]), coverage([[mark(2, 0)], [mark(28, 30)]]))
    }

    func testAMarkOnAnotherFloorDoesNotSurveyTheOneBelow() {
        let coverage = coverage([[mark(2, 0, map: 2), mark(8, 20, map: 2)]])
        XCTAssertEqual(coverage.unvisitedRooms.map(\.name), ["Room 1", "Room 2", "Room 3"])
        XCTAssertEqual(coverage.gaps.map(\.area), [300])
    }
}
