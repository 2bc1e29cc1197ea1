import BlueZScanning
import Foundation
import IndoorLocalization
import XCTest

final class HCIPacketTests: XCTestCase {
    func testAnAnswerHasOpcodeStatusAndParameters() {
        XCTAssertEqual(
            packet([4, 0x0E, 6, 1, 0x0B, 0x20, 0x0C, 7, 8]),
            .answer(HCIAnswer(opcode: 0x200B, status: 0x0C, parameters: [7, 8])))
    }

    func testACommandStatusIsAnAnswerToo() {
        XCTAssertEqual(packet([4, 0x0F, 4, 0x01, 1, 0x41, 0x20]), .answer(HCIAnswer(opcode: 0x2041, status: 1)))
    }

    func testACommandOfAnotherProgramIsDecoded() {
        XCTAssertEqual(packet([1, 0x0C, 0x20, 2, 1, 1]), .command(HCICommand(opcode: 0x200C, parameters: [1, 1])))
    }

    func testAKernelEventReportsAChangeOfAnAdapter() {
        let changes: [UInt8: HCIDeviceChange] = [1: .registered, 2: .unregistered, 3: .up, 4: .down]
        for (number, change) in changes {
            XCTAssertEqual(packet([4, 0xFD, 6, 1, 0, number, 0, 5, 1]), .device(change, id: 0x0105), "\(change)")
        }
    }

    func testAMetaEventIsLeftToTheDecoder() {
        XCTAssertEqual(packet([4, 0x3E, 2, 2, 0]), .meta)
    }

    func testTruncatedPacketsAndPacketsOfOtherKindsAreIgnored() {
        let whole: [[UInt8]] = [
            [4, 0x0E, 4, 1, 0x0B, 0x20, 0], [4, 0x0F, 4, 1, 1, 0x41, 0x20], [1, 0x0C, 0x20, 0],
            [4, 0xFD, 6, 1, 0, 3, 0, 0, 0],
        ]
        for bytes in whole {
            for count in 0..<bytes.count {
                XCTAssertEqual(packet(Array(bytes.prefix(count))), .other, "\(bytes) cut to \(count) bytes")
            }
        }
        XCTAssertEqual(packet([2, 0, 0, 0, 0, 0, 0]), .other)
        XCTAssertEqual(packet([4, 0xFD, 6, 9, 0, 3, 0, 0, 0]), .other)
    }

    // MARK: - Commands

    private let scan = HCIScanParameters(isActive: false, window: .milliseconds(60), interval: .milliseconds(60))

    func testACommandIsSentWithItsLength() {
        XCTAssertEqual(HCICommand(opcode: 0x200C, parameters: [1, 0]).packet, [1, 0x0C, 0x20, 2, 1, 0])
    }

    func testLegacyParametersHaveTheLayoutOfTheSpecification() {
        XCTAssertEqual(
            HCIScanCommands.legacy.parameters(scan).packet, [1, 0x0B, 0x20, 7, 0, 0x60, 0, 0x60, 0, 0, 0])
    }

    func testExtendedParametersHaveTheLayoutOfTheSpecification() {
        XCTAssertEqual(
            HCIScanCommands.extended.parameters(scan).packet, [1, 0x41, 0x20, 8, 0, 0, 1, 0, 0x60, 0, 0x60, 0])
    }

    func testTheScanStartsWithTheDuplicateFilterOff() {
        XCTAssertEqual(HCIScanCommands.legacy.enable(true).packet, [1, 0x0C, 0x20, 2, 1, 0])
        XCTAssertEqual(HCIScanCommands.extended.enable(true).packet, [1, 0x42, 0x20, 6, 1, 0, 0, 0, 0, 0])
    }

    func testTheParametersContainTheScanTypeAndTheAddressType() {
        var scan = HCIScanParameters(isActive: true, window: .milliseconds(30), interval: .milliseconds(100))
        scan.usesRandomAddress = true
        XCTAssertEqual(HCIScanCommands.legacy.parameters(scan).parameters, [1, 0xA0, 0, 0x30, 0, 1, 0])
        XCTAssertEqual(HCIScanCommands.extended.parameters(scan).parameters, [1, 0, 1, 1, 0xA0, 0, 0x30, 0])
    }

    func testDurationsAreClampedToTheRangeOfTheAdapter() {
        let cases: [(window: Duration, interval: Duration, units: [UInt16])] = [
            (.zero, .zero, [4, 4]), (.seconds(60), .seconds(60), [0x4000, 0x4000]),
            (.milliseconds(100), .milliseconds(50), [80, 80]), (.microseconds(11_250), .seconds(1), [18, 1600]),
            (.seconds(-1), .milliseconds(10), [4, 16]),
        ]
        for (window, interval, units) in cases {
            let scan = HCIScanParameters(isActive: false, window: window, interval: interval)
            XCTAssertEqual([scan.window, scan.interval], units, "\(window) of \(interval)")
        }
    }

    func testCommandsOfOtherProgramsAreDecoded() {
        let cases: [(HCICommand, HCIScanCommand?)] = [
            (HCICommand(opcode: 0x0C03, parameters: []), .reset),
            (
                HCICommand(opcode: 0x200B, parameters: [0, 16, 0, 16, 0, 0, 1]),
                .parameters(.legacy, acceptListOnly: true)
            ),
            (
                HCICommand(opcode: 0x2041, parameters: [0, 2, 1, 0, 16, 0, 16, 0]),
                .parameters(.extended, acceptListOnly: false)
            ),
            (HCICommand(opcode: 0x200C, parameters: [1, 1]), .start(.legacy, filtersDuplicates: true)),
            (HCICommand(opcode: 0x2042, parameters: [1, 0, 0, 0, 0, 0]), .start(.extended, filtersDuplicates: false)),
            (HCICommand(opcode: 0x200C, parameters: [0, 0]), .stop(.legacy)),
            (HCICommand(opcode: 0x2042, parameters: [0, 0, 0, 0, 0, 0]), .stop(.extended)),
            (HCICommand(opcode: 0x200C, parameters: [1]), nil),
            (HCICommand(opcode: 0x2006, parameters: [1, 1]), nil),
        ]
        for (command, meaning) in cases { XCTAssertEqual(HCIScanCommand(command), meaning, "\(command)") }
    }

    private func packet(_ bytes: [UInt8]) -> HCIPacket { HCIPacket(bytes.span) }
}

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
