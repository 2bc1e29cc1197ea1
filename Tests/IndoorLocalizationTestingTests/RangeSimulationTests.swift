import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class RangeSimulationTests: XCTestCase {
    private static func venue(walls: [[MapPoint]] = []) -> Venue {
        var venue = SimulatedHall.venue(walls: walls, beacons: 0)
        venue.anchors = [VenueAnchor(id: "A", mapID: SimulatedHall.ground, point: SimulatedHall.middle, z: 1.2)]
        return venue
    }

    private func distances(
        walls: [[MapPoint]] = [], _ change: (inout RangeSettings) -> Void, path: WalkPath? = nil, seed: UInt64 = 1
    ) throws -> [RangeReading] {
        var settings = SimulatedHall.quiet()
        settings.radio.deviceHeight = 1.2
        settings.ranges.interval = 0.1
        settings.ranges.lossShare = 0
        change(&settings.ranges)
        let path = path ?? SimulatedHall.stay(at: MapPoint(x: 20, y: 30), seconds: 100)
        let walk = try WalkSimulator(venue: Self.venue(walls: walls), path: path, settings: settings, seed: seed)
        return walk.sensorReadings().compactMap { if case .range(let range) = $0 { range } else { nil } }
    }

    func testDistancesScatterAboutTheTrueOne() throws {
        let found = try distances { $0.excessShare = 0 }.map(\.distance)
        XCTAssertEqual(found.count, 1000)
        let mean = found.reduce(0, +) / 1000
        XCTAssertEqual(mean, 10, accuracy: 0.01)
        let variance = found.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 1000
        XCTAssertEqual(variance.squareRoot(), 0.1, accuracy: 0.01)
    }

    func testAReflectedPathIsLongerByAnAmountThatDependsOnThePlace() throws {
        let walk = SimulatedHall.walk([MapPoint(x: 1, y: 30), MapPoint(x: 39, y: 30)])
        let found = try distances(
            {
                $0.excessShare = 1
                $0.excess = 2
                $0.deviation = 0
                $0.interval = 0.05
            }, path: walk)
        let excesses = found.map {
            $0.distance - MapPoint(x: 1 + $0.instant.seconds, y: 30).distance(to: SimulatedHall.middle)
        }
        XCTAssertGreaterThan(excesses.min() ?? -1, -0.01)
        XCTAssertEqual(Set(excesses.map { Int(($0 * 20).rounded()) }).count, 19, accuracy: 6, "twenty areas of 2 m")
    }

    func testAWallMakesReflectionsMoreProbable() throws {
        let wall = [[MapPoint(x: 0, y: 25), MapPoint(x: 40, y: 25)]]
        let found = try distances(walls: wall) {
            $0.excessShare = 0
            $0.hiddenExcessShare = 1
            $0.deviation = 0
        }
        XCTAssertGreaterThan(found.first?.distance ?? 0, 10.001)
    }

    func testNoDistanceArrivesBeyondTheReachOrWithoutAnInterval() throws {
        XCTAssertTrue(try distances { $0.reach = 9 }.isEmpty)
        XCTAssertTrue(try distances { $0.interval = 0 }.isEmpty)
    }

    func testALostShareOfTheDistancesIsMissing() throws {
        XCTAssertEqual(try distances { $0.lossShare = 0.3 }.count, 700, accuracy: 60)
    }

    func testTheSameSeedGivesTheSameDistancesAndAnotherOneOthers() throws {
        let one = try distances({ _ in }, seed: 4)
        XCTAssertEqual(one, try distances({ _ in }, seed: 4))
        XCTAssertNotEqual(one, try distances({ _ in }, seed: 5))
    }

    func testASettingOutOfRangeIsRefused() {
        var settings = SimulationSettings()
        XCTAssertThrowsError(try settings.set("ranges.reach", to: .number(0)))
        XCTAssertNoThrow(try settings.set("ranges.interval", to: .number(0.5)))
        XCTAssertEqual(settings.ranges.interval, 0.5)
    }
}

private func XCTAssertEqual(_ first: Int, _ second: Int, accuracy: Int, _ message: String = "") {
    XCTAssertLessThanOrEqual(abs(first - second), accuracy, "\(first) instead of \(second) \(message)")
}
