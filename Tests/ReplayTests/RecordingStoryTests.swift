import IndoorLocalization
import XCTest

/// The required sequence of states for each recording, independent of its figures.
final class RecordingStoryTests: XCTestCase {
    /// The names of the states until the first position.
    private static let start = ["started", "searchVenue", "getPacket", "getPacket", "findFloor", "localizationRunning"]

    func testPositionsAreReportedOnlyWhileRunningAndOnTheMapOfTheState() async throws {
        for name in RecordedWalk.names {
            var mapID: MapID?
            var positions = 0
            for output in try await RecordedWalk.replayed(name).outputs {
                switch output.content {
                case .state(.localizationRunning(let running)): mapID = running.mapID
                case .state: mapID = nil
                case .position(let position):
                    positions += 1
                    XCTAssertEqual(position.mapID, mapID, "\(name) at \(output.instant)")
                case .outdoorPosition, .motion, .event, .interaction, .downloadedVenue, .error, .diagnosis: break
                }
            }
            XCTAssertGreaterThan(positions, 20, name)
        }
    }

    func testOutputsAreInOrderOfTimeAndWithoutErrors() async throws {
        for name in RecordedWalk.names {
            let outputs = try await RecordedWalk.replayed(name).outputs
            XCTAssertGreaterThan(outputs.count, 20, name)
            for (earlier, later) in zip(outputs, outputs.dropFirst()) {
                XCTAssertLessThanOrEqual(earlier.instant, later.instant, name)
            }
            for output in outputs {
                guard case .error(let error) = output.content else { continue }
                if case .beaconFault(let fault) = error.reason, name == "half-silent" {
                    XCTAssertEqual(fault.kind, .silent, "\(name): \(error)")
                } else {
                    XCTFail("\(name): \(error)")
                }
            }
        }
    }

    func testTheOneFloorRecordingNeverLeavesTheFloor() async throws {
        let walk = try await RecordedWalk.replayed("one-floor")
        XCTAssertEqual(walk.states.map(\.what.name), Self.start + ["idle"])
        XCTAssertEqual(walk.runningMaps, [1])
    }

    func testTheStairsRecordingChangesTheFloorExactlyOnce() async throws {
        let walk = try await RecordedWalk.replayed("stairs")
        XCTAssertEqual(walk.states.map(\.what.name), Self.start + ["findFloor", "localizationRunning", "idle"])
        XCTAssertEqual(walk.runningMaps, [1, 2])
    }

    func testTheStairsRecordingChangesTheFloorSoonAfterTheClimb() async throws {
        let walk = try await RecordedWalk.replayed("stairs")
        // The map changes half way up the stairs; heights are compared at the end of the climb, at (27.6, 3).
        let halfWay = try XCTUnwrap(walk.truths.first { $0.mapID == 2 }).instant
        let top = try XCTUnwrap(walk.truths.first { $0.mapID == 2 && $0.point == MapPoint(x: 27.6, y: 3) }).instant
        let changed = try XCTUnwrap(walk.states.last { $0.what.name == "localizationRunning" }).instant
        XCTAssertGreaterThanOrEqual(changed, halfWay)
        XCTAssertLessThanOrEqual(changed.seconds, top.seconds + 5)
    }

    func testTheOutdoorRecordingLosesTheVenueOnceAndFindsItAgain() async throws {
        let walk = try await RecordedWalk.replayed("outdoors")
        // Satellites find the venue again, so that its packet is there at the first beacon.
        XCTAssertEqual(
            walk.states.map(\.what.name),
            Self.start + ["searchVenue", "getPacket", "findFloor", "localizationRunning", "idle"])
        XCTAssertEqual(walk.runningMaps, [1, 1])
    }

    func testTheOutdoorRecordingHasPositionsFromTheDoorOn() async throws {
        let walk = try await RecordedWalk.replayed("outdoors")
        let back = try XCTUnwrap(walk.truths.last { $0.room == "outdoors" }).instant
        let positions = walk.positions.filter { $0.instant > back }
        XCTAssertEqual(try XCTUnwrap(positions.first).instant.seconds, back.seconds, accuracy: 1)
        XCTAssertGreaterThan(positions.count, 10)
    }

    func testTheOutdoorRecordingHasNoPositionWithoutBeacons() async throws {
        let walk = try await RecordedWalk.replayed("outdoors")
        let silence = try XCTUnwrap(
            zip(walk.sightings, walk.sightings.dropFirst()).max { $0.0.duration(to: $0.1) < $1.0.duration(to: $1.1) })
        XCTAssertGreaterThan(silence.1.seconds - silence.0.seconds, 30)
        // The last readings may be used for ten seconds.
        let heard = walk.positions.filter { $0.instant.seconds > silence.0.seconds + 10 && $0.instant < silence.1 }
        XCTAssertEqual(heard, [])
    }

    func testTheHalfSilentRecordingHasPositionsToTheEnd() async throws {
        let walk = try await RecordedWalk.replayed("half-silent")
        XCTAssertEqual(walk.states.map(\.what.name), Self.start + ["idle"])
        XCTAssertEqual(walk.runningMaps, [2])
        let times = walk.positions.map(\.instant.seconds)
        XCTAssertGreaterThanOrEqual(try XCTUnwrap(times.last), walk.end.seconds - 1)
        for (earlier, later) in zip(times, times.dropFirst()) { XCTAssertLessThanOrEqual(later - earlier, 1.001) }
    }
}
