import IndoorLocalization
import XCTest

final class PositionFilterTests: XCTestCase {
    private func position(_ x: Double, at seconds: Double, course: Double? = nil, map: MapID = 10) -> Position {
        Position(
            instant: Instant(seconds: seconds), venueID: 1, mapID: map, point: MapPoint(x: x, y: 0), radius: 1,
            course: course)
    }

    private func passed(_ positions: [Position], _ filter: PositionFilter) -> [Double] {
        var gate = PositionGate()
        return positions.filter { gate.admits($0, by: filter) }.map(\.instant.seconds)
    }

    func testWithoutAFilterEveryPositionPasses() {
        let positions = [position(0, at: 0), position(0, at: 0.1), position(0, at: 0.2)]
        XCTAssertEqual(passed(positions, PositionFilter()), [0, 0.1, 0.2])
    }

    func testDistanceOrTimeIsEnough() {
        let positions = [
            position(0, at: 0), position(0.6, at: 1), position(0.75, at: 1.5), position(0.8, at: 3.4),
            position(0.8, at: 3.5),
        ]
        XCTAssertEqual(passed(positions, PositionFilter(distance: 0.7, time: .seconds(2))), [0, 1.5, 3.5])
    }

    func testAFilterIgnoresThresholdsOfZero() {
        let positions = [position(0, at: 0), position(5, at: 1), position(5, at: 30)]
        XCTAssertEqual(passed(positions, PositionFilter(distance: 0.7)), [0, 1])
        XCTAssertEqual(passed(positions, PositionFilter(time: .seconds(10))), [0, 30])
    }

    /// Distance is counted from what was told last, so that slow motion is told too.
    func testSlowMotionAddsUp() {
        let positions = (0...10).map { position(0.3 * Double($0), at: Double($0)) }
        XCTAssertEqual(passed(positions, PositionFilter(distance: 0.7)), [0, 3, 6, 9])
    }

    func testATurnIsEnough() {
        let positions = [
            position(0, at: 0, course: 359), position(0, at: 1, course: 3), position(0, at: 2, course: 4),
            position(0, at: 3), position(0, at: 4, course: 9),
        ]
        XCTAssertEqual(passed(positions, PositionFilter(heading: 5)), [0, 2, 4])
    }

    func testAnotherMapPasses() {
        let positions = [position(0, at: 0), position(0, at: 1, map: 11), position(0, at: 2, map: 11)]
        XCTAssertEqual(passed(positions, PositionFilter(distance: 1)), [0, 1])
    }

    func testASessionEmitsTheFilteredPositionsAndAllRoomEvents() {
        var settings = LocalizationSettings()
        settings.positionFilter = PositionFilter(distance: 100)
        settings.areaDwell = .zero
        var machine = SessionStage.machine(in: .localizationRunning, settings)
        let told = machine.handle(.reading(SessionStage.fix(10, 5, 5, at: 10.1)), at: 10.1) + machine.pass(to: 10.6)
        let names = told.map { directive in
            switch directive {
            case .emit: "position"
            case .emitEvent: "event"
            default: "other"
            }
        }
        XCTAssertEqual(names, ["event", "event"])
    }

    func testFiltersOutOfRangeAreNamed() {
        var settings = LocalizationSettings()
        settings.positionFilter = PositionFilter(distance: -1, time: .seconds(-1), heading: 181)
        XCTAssertEqual(settings.problems.count, 3)
        for key in ["positionFilter.distance", "positionFilter.time", "positionFilter.heading"] {
            XCTAssertTrue(settings.problems.contains { $0.contains(key) }, "\(key): \(settings.problems)")
        }
    }
}
