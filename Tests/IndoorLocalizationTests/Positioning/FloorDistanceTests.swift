import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class FloorDistanceTests: XCTestCase {
    private typealias Stage = PositioningStage

    /// A cellar, a ground floor, one of another building beside it, and a tower.
    private let distance = FloorDistance([
        Stage.map(1, level: -1), Stage.map(2, level: 0), Stage.map(3, level: 0), Stage.map(4, level: 7),
    ])

    func testASignalWithinAMapPassesNoFloor() {
        for map in [1, 2, 3, 4] as [MapID] { XCTAssertEqual(distance.floors(from: map, to: map), 0, "\(map)") }
    }

    func testTheFloorsBetweenMapsAreTheDifferenceOfTheirLevels() {
        XCTAssertEqual(distance.floors(from: 1, to: 2), 1)
        XCTAssertEqual(distance.floors(from: 1, to: 4), 8)
        XCTAssertEqual(distance.floors(from: 4, to: 1), 8)
    }

    func testASignalBetweenMapsOfTheSameLevelPassesOneFloor() {
        XCTAssertEqual(distance.floors(from: 2, to: 3), 1)
    }

    func testASignalToAnUnknownMapPassesOneFloor() {
        XCTAssertEqual(distance.floors(from: 4, to: 99), 1)
        XCTAssertEqual(distance.floors(from: 99, to: 4), 1)
        XCTAssertEqual(distance.floors(from: 99, to: 99), 0)
    }

    func testTheFirstOfTwoMapsWithOneIdentityApplies() {
        let twice = FloorDistance([Stage.map(1, level: 0), Stage.map(1, level: 9), Stage.map(2, level: 3)])
        XCTAssertEqual(twice.floors(from: 1, to: 2), 3)
    }

    func testExtremeLevelsAreFarApart() {
        let wild = FloorDistance([Stage.map(1, level: .min), Stage.map(2, level: .max), Stage.map(3, level: 0)])
        XCTAssertEqual(wild.floors(from: 1, to: 2), .max)
        XCTAssertEqual(wild.floors(from: 2, to: 1), .max)
        XCTAssertEqual(wild.floors(from: 1, to: 3), .max)
    }
}
