import IndoorLocalizationTesting
import Synchronization
import XCTest

@testable import GeofenceLogging

/// The age of records when the clock jumps.
final class RetentionTests: XCTestCase {
    /// A device with a clock and an uptime that a test sets.
    private final class Device: Sendable {
        private let moment = Mutex(DeviceMoment(clock: 1_700_000_000, boot: "a", uptime: 1000))
        var now: DeviceMoment { moment.withLock { $0 } }

        /// Lets time pass, on the clock and in the uptime.
        func pass(_ seconds: Double) {
            moment.withLock { $0 = DeviceMoment(clock: $0.clock + seconds, boot: $0.boot, uptime: $0.uptime + seconds) }
        }

        /// Sets the clock, as a user would.
        func setClock(by seconds: Double) { moment.withLock { $0.clock += seconds } }

        /// Turns the machine off for a while and starts it again.
        func restart(after seconds: Double) {
            moment.withLock { $0 = DeviceMoment(clock: $0.clock + seconds, boot: $0.boot + "a", uptime: 1) }
        }
    }

    private let day = 86_400.0

    private func log(_ device: Device, at path: String, days: Double = 30) throws -> GeofenceLog {
        var settings = GeofenceLogSettings()
        settings.retention = .seconds(days * day)
        return try GeofenceLog(path: path, settings: settings, now: { device.now })
    }

    func testAnEventInTheFarFutureDeletesNoOther() async throws {
        var settings = GeofenceLogSettings()
        settings.retention = .seconds(30 * day)
        let log = try GeofenceLog(path: try temporaryLog(), settings: settings)
        let now = DeviceMoment.now().clock
        try await log.append((0..<1000).map { record(at: now - 1000 + Double($0)) })
        try await log.append([record(at: 4_102_444_800)])  // 2100-01-01
        let count = try await log.count
        XCTAssertEqual(count, 1001)
    }

    func testSettingTheClockForwardDeletesNoRecord() async throws {
        let (device, path) = (Device(), try temporaryLog())
        var log = try log(device, at: path)
        for _ in 0..<10 {
            device.pass(day)
            try await log.append([record(at: device.now.clock)])
        }
        device.setClock(by: 70 * 365 * day)
        for _ in 0..<10 {
            device.pass(day)
            try await log.append([record(at: device.now.clock)])
        }
        var count = try await log.count
        XCTAssertEqual(count, 20)
        // Another process in the same run of the machine gets the same age.
        await log.close()
        log = try self.log(device, at: path)
        try await log.append([record(at: device.now.clock)])
        count = try await log.count
        XCTAssertEqual(count, 21)
        // The first records are deleted once they are too old.
        device.pass(15 * day)
        try await log.append([record(at: device.now.clock)])
        count = try await log.count
        XCTAssertEqual(count, 22 - 4, "on day 35, the records of days 1 to 4 are more than 30 days old")
    }

    func testARestartAgesRecordsByTheClockButByAtMostAMonth() async throws {
        for (off, kept) in [(2.0, 2), (29.5, 2), (30.5, 1), (25_000, 1)] {
            let (device, path) = (Device(), try temporaryLog())
            let log = try log(device, at: path)
            try await log.append([record(at: device.now.clock)])
            device.restart(after: off * day)
            try await log.append([record(at: device.now.clock)])
            let count = try await log.count
            XCTAssertEqual(count, kept, "off for \(off) days")
        }
        // A record that is newer than the maximum age minus a month survives a clock that was wrong at the start.
        let (device, path) = (Device(), try temporaryLog())
        let log = try log(device, at: path, days: 60)
        try await log.append([record(at: device.now.clock)])
        device.restart(after: 25_000 * day)
        try await log.append([record(at: device.now.clock)])
        let count = try await log.count
        XCTAssertEqual(count, 2)
    }

    func testSettingTheClockBackDeletesNoRecord() async throws {
        let device = Device()
        let log = try log(device, at: try temporaryLog())
        device.pass(day)
        try await log.append([record(at: device.now.clock)])
        device.setClock(by: -10 * day)
        try await log.append([record(at: device.now.clock)])
        let count = try await log.count
        XCTAssertEqual(count, 2)
    }

    func testALogWithoutAStoredClockStartsAtItsLastRecord() async throws {
        let (device, path) = (Device(), try temporaryLog())
        let old = try GeofenceLog(path: path)
        try await old.append([record(at: device.now.clock)])
        await old.close()
        device.setClock(by: 25_000 * day)
        let log = try log(device, at: path, days: 60)
        try await log.append([record(at: device.now.clock)])
        let count = try await log.count
        XCTAssertEqual(count, 2)
    }
}
