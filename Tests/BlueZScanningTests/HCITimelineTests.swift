import BlueZScanning
import Foundation
import IndoorLocalization
import XCTest

final class HCITimelineTests: XCTestCase {
    private let second: Int64 = 1_000_000_000

    func testTheTimeOfReceptionIsConvertedToTimeSinceBoot() {
        var timeline = KernelTimeline(wall: 1000 * second, boot: 10 * second)
        timeline.wake(wall: 1005 * second, boot: 15 * second)
        XCTAssertEqual(timeline.instant(wall: 1003 * second), Instant(seconds: 13))
        XCTAssertEqual(timeline.instant(wall: 1004 * second), Instant(seconds: 14))
    }

    func testTheWallClockIsThatOfTheLastWakeUp() {
        var timeline = KernelTimeline(wall: 1000 * second, boot: 10 * second)
        XCTAssertEqual(timeline.wallClock.unixTime(at: Instant(seconds: 10)).milliseconds, 1_000_000)
        // The wall clock is set an hour ahead.
        timeline.wake(wall: 4605 * second, boot: 15 * second)
        XCTAssertEqual(timeline.wallClock.unixTime(at: Instant(seconds: 13)).milliseconds, 4_603_000)
    }

    func testEachRouteReportsTheSystemsWallClock() throws {
        var boot = timespec()
        clock_gettime(CLOCK_BOOTTIME, &boot)
        let now = Instant(nanoseconds: Int64(boot.tv_sec) * 1_000_000_000 + Int64(boot.tv_nsec))
        let sources: [any ScanSource] = [
            HCIScanSource(), BlueZScanSource(), try BluetoothScanSource(route: .hci),
            try BluetoothScanSource(route: .dbus),
        ]
        for source in sources {
            let time = try XCTUnwrap(source.wallClock).unixTime(at: now).seconds
            XCTAssertEqual(time, Date().timeIntervalSince1970, accuracy: 60, "\(type(of: source))")
        }
    }

    func testInstantsNeverRunBackwards() {
        var timeline = KernelTimeline(wall: 1000 * second, boot: 10 * second)
        timeline.wake(wall: 1005 * second, boot: 15 * second)
        XCTAssertEqual(timeline.instant(wall: 1004 * second), Instant(seconds: 14))
        XCTAssertEqual(timeline.instant(wall: 1003 * second), Instant(seconds: 14))
    }

    func testAPacketAfterTheWakeUpGetsALaterInstant() {
        var timeline = KernelTimeline(wall: 1000 * second, boot: 10 * second)
        timeline.wake(wall: 1005 * second, boot: 15 * second)
        XCTAssertFalse(timeline.isBehind(wall: 1005 * second))
        XCTAssertFalse(timeline.isBehind(wall: -1))
        XCTAssertTrue(timeline.isBehind(wall: 1005 * second + 1))
        timeline.wake(wall: 1007 * second, boot: 17 * second)
        XCTAssertEqual(timeline.instant(wall: 1006 * second), Instant(seconds: 16))
    }

    func testSettingTheWallClockDoesNotChangeInstants() {
        for jump in [-3600 * second, 3600 * second] {
            var timeline = KernelTimeline(wall: 10_000 * second, boot: 10 * second)
            XCTAssertEqual(timeline.instant(wall: 10_000 * second), Instant(seconds: 10))
            // The clock is set between the reception and the wake-up: the instant is clamped between the last instant
            // and now.
            timeline.wake(wall: 10_011 * second + jump, boot: 21 * second)
            let instant = timeline.instant(wall: 10_010 * second)
            XCTAssertTrue((Instant(seconds: 10)...Instant(seconds: 21)).contains(instant), "\(jump): \(instant)")
            timeline.wake(wall: 10_012 * second + jump, boot: 22 * second)
            XCTAssertEqual(timeline.instant(wall: 10_012 * second + jump), Instant(seconds: 22), "\(jump)")
        }
    }

    func testAPacketWithoutATimeGetsThePresentInstant() {
        var timeline = KernelTimeline(wall: 1000 * second, boot: 10 * second)
        timeline.wake(wall: 1002 * second, boot: 12 * second)
        XCTAssertEqual(timeline.instant(wall: -1), Instant(seconds: 12))
    }

    func testAPresentEventFollowsTheLastReading() {
        var timeline = KernelTimeline(wall: 1000 * second, boot: 10 * second)
        timeline.wake(wall: 1001 * second, boot: 11 * second)
        XCTAssertEqual(timeline.present(), Instant(seconds: 11))
        XCTAssertEqual(timeline.instant(wall: 1000 * second), Instant(seconds: 11))
    }
}
