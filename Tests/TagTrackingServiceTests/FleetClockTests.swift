import TagTrackingService
import XCTest

/// The clock of a fleet.
final class FleetClockTests: XCTestCase {
    func testTheClockFollowsTheWallClockForward() {
        var clock = FleetClock()
        XCTAssertEqual(clock.now(wall: 1000, uptime: 0).nanoseconds, 1000)
        XCTAssertEqual(clock.now(wall: 1010, uptime: 10).nanoseconds, 1010)
        XCTAssertEqual(clock.now(wall: 9000, uptime: 20).nanoseconds, 9000)
    }

    func testTheClockRunsAtHalfSpeedWhileTheWallClockIsBehind() {
        var clock = FleetClock()
        XCTAssertEqual(clock.now(wall: 1000, uptime: 0).nanoseconds, 1000)
        XCTAssertEqual(clock.now(wall: 900, uptime: 0).nanoseconds, 1000)
        XCTAssertEqual(clock.now(wall: 1000, uptime: 100).nanoseconds, 1050)
        XCTAssertEqual(clock.now(wall: 1100, uptime: 200).nanoseconds, 1100)
        XCTAssertEqual(clock.now(wall: 1150, uptime: 250).nanoseconds, 1150, "both agree again")
    }
}
