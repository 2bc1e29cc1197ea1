import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

/// A recording of only motion and pressure, up the stairs and down by the elevator, which starts with a fix.
final class BeaconlessWalkTests: XCTestCase {
    private static let seeds: [UInt64] = [0, 1, 2]

    private func walk(seed: UInt64 = 0) async throws -> RecordedWalk {
        var settings = LocalizationSettings()
        settings.forcedVenue = 1
        let start = Fix(instant: .zero, mapID: 1, point: MapPoint(x: 13, y: 5), radius: 1)
        return try await RecordedWalk(
            "without-beacons", settings: settings, seed: seed, start: start, tellsMotion: true)
    }

    private func estimates(_ walk: RecordedWalk) -> [MotionEstimate] {
        walk.outputs.compactMap { if case .motion(let estimate) = $0.content { estimate } else { nil } }
    }

    func testTheRecordingContainsNoBeacon() async throws {
        let walk = try await walk()
        XCTAssertEqual(walk.sightings, [])
        XCTAssertFalse(walk.positions.isEmpty)
    }

    func testPositionsAreWithinTheLimits() async throws {
        let walk = try await walk()
        print("without-beacons, seed 0: \(walk.score)")
        XCTAssertEqual(try RecordingLimits(of: "without-beacons").problems(of: walk), [])
    }

    func testTheFloorFollowsTheBarometerUpAndDown() async throws {
        for seed in Self.seeds {
            let walk = try await walk(seed: seed)
            let maps = walk.positions.map(\.mapID)
            let changes = zip(maps, maps.dropFirst()).filter { $0 != $1 }.map(\.1)
            XCTAssertEqual(changes, [2, 1], "seed \(seed)")
        }
    }

    func testTheSessionKeepsTheVenueToTheEnd() async throws {
        let walk = try await walk()
        XCTAssertEqual(walk.states.filter { $0.what.name == "searchVenue" }.count, 1)
        XCTAssertEqual(try XCTUnwrap(walk.positions.last).instant.seconds, walk.end.seconds, accuracy: 1)
    }

    func testTheSessionDetectsStairsAndTheElevator() async throws {
        let reported = try await estimates(walk())
        var kinds: [VerticalMotion] = []
        for estimate in reported where kinds.last != estimate.vertical { kinds.append(estimate.vertical) }
        XCTAssertTrue(kinds.contains(.stairs(.up)), "\(kinds)")
        XCTAssertTrue(kinds.contains(.elevator(.down)), "\(kinds)")
        XCTAssertFalse(kinds.contains(.stairs(.down)), "\(kinds)")
        XCTAssertFalse(kinds.contains(.elevator(.up)), "\(kinds)")
        XCTAssertEqual(reported.last?.floor, 0)
        XCTAssertTrue(reported.contains { $0.floor == 1 })
    }

    func testTheDistanceEqualsTheLengthOfTheWalk() async throws {
        let last = try await estimates(walk()).last
        let statistics = try XCTUnwrap(last?.statistics)
        // 46 m on the floors and 21 stairs up.
        XCTAssertEqual(statistics.distance, 52, accuracy: 9)
        XCTAssertEqual(statistics.ascent, 3.6, accuracy: 1)
        XCTAssertEqual(statistics.descent, 3.6, accuracy: 1)
        XCTAssertGreaterThan(statistics.walking.seconds, 40)
        XCTAssertGreaterThan(statistics.dwelling.seconds, 15)
    }

    func testDeadReckoningWithoutAVenueEndsNearTheTruePosition() async throws {
        var reckoner = DeadReckoner()
        try reckoner.setPosition(x: 13, y: -5, radius: 1)
        let path = try RecordedWalk.path("without-beacons")
        for try await reading in RecordingSource(path: path).readings() {
            reckoner.observe(reading)
        }
        let estimate = reckoner.estimate
        let error = MapPoint(x: estimate.position.x, y: -estimate.position.y).distance(to: MapPoint(x: 21, y: 5))
        XCTAssertLessThan(error, 11, "9 m after 50 m; half of it is due to the steps on the stairs")
        XCTAssertLessThan(error, 2 * estimate.radius)
    }
}
