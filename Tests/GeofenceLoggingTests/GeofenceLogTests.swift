import CSQLite
import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import SQLiteFiles
import Synchronization
import XCTest
@testable import GeofenceLogging

final class GeofenceLogTests: XCTestCase {
    func testAWrittenRecordReadsBackWithAllItsFields() async throws {
        let path = try temporaryLog()
        let log = try GeofenceLog(path: path)
        let written = [
            record(at: 1_700_000_000.123_456, name: "Tür \"Süd\"; DROP TABLE record; --", isEntry: true),
            record(
                at: 1_700_000_001, fence: -3, venue: 9_007_199_254_740_991, kind: .room, name: "a\0b", isEntry: false),
            record(at: -5, kind: .geofence, name: ""),
        ]
        let numbers = try await log.append(written)
        XCTAssertEqual(numbers, [1, 2, 3])
        var expected = written
        for index in expected.indices { expected[index].id = numbers[index] }
        let read = try await log.records()
        XCTAssertEqual(read, [expected[2], expected[0], expected[1]], "ordered by time")
    }

    func testTheLogStoresTheTimeOfTheSourcesWallClock() async throws {
        let path = try temporaryLog()
        let log = try GeofenceLog(path: path)
        var timed = record(at: 100)
        timed.unixTime = UnixTime(milliseconds: 1_600_000_000_123)
        try await log.append([timed, record(at: 101)])
        await log.close()
        let read = try await GeofenceLog(path: path).records().map(\.unixTime)
        XCTAssertEqual(read, [UnixTime(milliseconds: 1_600_000_000_123), nil])
        let event = LocalizationEvent(
            instant: .zero, unixTime: UnixTime(milliseconds: 5), venueID: 1,
            kind: .enterRoom(Room(id: 1, name: "hall", mapID: 10)))
        XCTAssertEqual(GeofenceRecord(event, at: 100).unixTime, UnixTime(milliseconds: 5))
    }

    func testOpeningALogAddsAMissingColumnForTheWallClock() async throws {
        let path = try temporaryLog()
        let begun = try GeofenceLog(path: path)
        try await begun.append([record(at: 100)])
        await begun.close()
        var handle: OpaquePointer?
        XCTAssertEqual(sqlite3_open(path, &handle), SQLITE_OK)
        XCTAssertEqual(sqlite3_exec(handle, "ALTER TABLE record DROP COLUMN unix_ms", nil, nil, nil), SQLITE_OK)
        sqlite3_close(handle)
        let log = try GeofenceLog(path: path)
        var timed = record(at: 101)
        timed.unixTime = UnixTime(milliseconds: 7)
        try await log.append([timed])
        let read = try await log.records()
        XCTAssertEqual(read.map(\.time), [100, 101])
        XCTAssertEqual(read.map(\.unixTime), [nil, UnixTime(milliseconds: 7)])
    }

    func testOnlyTheirOwnerCanReadTheLogAndItsJournals() async throws {
        let path = try temporaryLog()
        let log = try GeofenceLog(path: path)
        try await log.append([record(at: 100)])
        let folder = URL(filePath: path).deletingLastPathComponent().path
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let log_ = URL(filePath: path).lastPathComponent
        XCTAssertEqual(names.sorted(), [log_, log_ + "-shm", log_ + "-wal"])
        for name in names {
            let mode = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.posixPermissions] as? Int
            XCTAssertEqual(mode, 0o600, name)
        }
        await log.close()
    }

    func testTheHistorySurvivesARestart() async throws {
        let path = try temporaryLog()
        var log = try GeofenceLog(path: path)
        try await log.append([record(at: 100)])
        await log.close()
        log = try GeofenceLog(path: path)
        let numbers = try await log.append([record(at: 200)])
        XCTAssertEqual(numbers, [2], "numbers continue")
        let times = try await log.records().map(\.time)
        XCTAssertEqual(times, [100, 200])
    }

    func testAQuerySelectsRecordsByTimeAndByGeofence() async throws {
        let log = try GeofenceLog(path: temporaryLog())
        try await log.append([
            record(at: 100), record(at: 110, isEntry: false), record(at: 120, fence: 8), record(at: 130, venue: 2),
            record(at: 140, kind: .room), record(at: 150), record(at: 160, isEntry: false),
        ])
        let cases: [(String, GeofenceQuery, [Double])] = [
            ("all", GeofenceQuery(), [100, 110, 120, 130, 140, 150, 160]),
            ("time, the end excluded", GeofenceQuery(times: 110..<150), [110, 120, 130, 140]),
            ("a fence of a venue", .fence(7, of: 1), [100, 110, 150, 160]),
            ("a fence in a time", .fence(7, of: 1, in: 105..<155), [110, 150]),
            ("a venue", GeofenceQuery(venueID: 2), [130]),
            ("rooms", GeofenceQuery(kind: .room), [140]),
            ("entries", GeofenceQuery(venueID: 1, kind: .fence, areaID: "7", isEntry: true), [100, 150]),
            ("the newest", GeofenceQuery(limit: 2), [150, 160]),
            ("none", GeofenceQuery(limit: 0), []),
            ("no time limit", GeofenceQuery(times: -.infinity ..< .infinity, limit: 1), [160]),
        ]
        for (what, query, times) in cases {
            let read = try await log.records(query).map(\.time)
            XCTAssertEqual(read, times, what)
        }
    }

    func testTheOldestRecordsAreDeletedAtTheLimit() async throws {
        var settings = GeofenceLogSettings()
        settings.recordLimit = 10
        let log = try GeofenceLog(path: temporaryLog(), settings: settings)
        for time in 0..<25 { try await log.append([record(at: Double(time))]) }
        let times = try await log.records().map(\.time)
        XCTAssertEqual(times, (15..<25).map(Double.init))
        try await log.append((25..<50).map { record(at: Double($0)) })
        let count = try await log.count
        XCTAssertEqual(count, 10)
    }

    func testTheFileSizeIsBounded() async throws {
        let path = try temporaryLog()
        var settings = GeofenceLogSettings()
        settings.recordLimit = 500
        let log = try GeofenceLog(path: path, settings: settings)
        func write(_ count: Int) async throws -> Int {
            for _ in 0..<count { try await log.append((0..<100).map { record(at: Double($0)) }) }
            return try ["", "-wal"].map {
                try FileManager.default.attributesOfItem(atPath: path + $0)[.size] as? Int ?? 0
            }.reduce(0, +)
        }
        _ = try await write(100)
        let bytes = try await write(300)
        // 500 records are about 75 kB, and the write-ahead file holds 1000 pages of 4 kB before it is reused.
        XCTAssertLessThan(bytes, 6_000_000)
        print("\(bytes) bytes after 40,000 records of which 500 are kept")
    }

    func testRecordsOlderThanTheRetentionAreDeleted() async throws {
        var settings = GeofenceLogSettings()
        settings.retention = .seconds(3600)
        let log = try GeofenceLog(path: temporaryLog(), settings: settings)
        for time in [0.0, 1000, 3600, 4000] { try await log.append([record(at: time)]) }
        let times = try await log.records().map(\.time)
        XCTAssertEqual(times, [1000, 3600, 4000], "one hour before the newest record is 400")
    }

    func testAWriteIsAtomic() async throws {
        let log = try GeofenceLog(path: temporaryLog())
        await assertThrows(.failed, "an invalid time") {
            try await log.append([record(at: 1), record(at: .nan)])
        }
        var count = try await log.count
        XCTAssertEqual(count, 0)
        try await log.append([record(at: 2)])
        count = try await log.count
        XCTAssertEqual(count, 1, "the log still works")
    }

    func testAReaderDoesNotWaitForAWriter() async throws {
        let path = try temporaryLog()
        let log = try GeofenceLog(path: path)
        try await log.append([record(at: 1)])
        // Another program during a write.
        var other: OpaquePointer?
        XCTAssertEqual(sqlite3_open(path, &other), SQLITE_OK)
        defer { sqlite3_close(other) }
        XCTAssertEqual(sqlite3_exec(other, "BEGIN IMMEDIATE; DELETE FROM record", nil, nil, nil), SQLITE_OK)
        let times = try await log.records().map(\.time)
        XCTAssertEqual(times, [1])
        var settings = GeofenceLogSettings()
        settings.busyTimeout = .milliseconds(50)
        let impatient = try GeofenceLog(path: path, settings: settings)
        await assertThrows(.busy) { try await impatient.append([record(at: 2)]) }
        XCTAssertEqual(sqlite3_exec(other, "ROLLBACK", nil, nil, nil), SQLITE_OK)
        try await impatient.append([record(at: 3)])
        let count = try await log.count
        XCTAssertEqual(count, 2)
    }

    func testTwoLogsWriteToOneFileConcurrently() async throws {
        let path = try temporaryLog()
        // The other log may be stopped in the middle of a write for longer than the usual time.
        var settings = GeofenceLogSettings()
        settings.busyTimeout = Bounded.longest
        let logs = [try GeofenceLog(path: path, settings: settings), try GeofenceLog(path: path, settings: settings)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for log in logs {
                let records = (0..<100).map { record(at: Double($0)) }
                group.addTask { for record in records { try await log.append([record]) } }
            }
            try await group.waitForAll()
        }
        let numbers = try await logs[0].records().map(\.id)
        XCTAssertEqual(numbers.sorted(), Array(1...200))
    }

    func testAClosedLogThrows() async throws {
        let log = try GeofenceLog(path: temporaryLog())
        await log.close()
        await assertThrows(.closed) { try await log.append([record(at: 1)]) }
        await assertThrows(.closed) { _ = try await log.records() }
    }

    func testRemoveAllDeletesAllRecords() async throws {
        let log = try GeofenceLog(path: temporaryLog())
        try await log.append([record(at: 1), record(at: 2)])
        try await log.removeAll()
        let count = try await log.count
        XCTAssertEqual(count, 0)
        let numbers = try await log.append([record(at: 3)])
        XCTAssertEqual(numbers, [3], "no number is used twice")
    }
}

/// The age of records when the clock jumps.
final class RetentionTests: XCTestCase {
    /// A device with a clock and an uptime that a test sets.
    private final class Device: Sendable {
        private let moment: Mutex<DeviceMoment>
        var now: DeviceMoment { moment.withLock { $0 } }

        /// - Parameter boot: the identifier of the machine's run; empty if it can't be read, also after a restart.
        init(boot: String = "a") {
            moment = Mutex(DeviceMoment(clock: 1_700_000_000, boot: boot, uptime: 1000))
        }

        /// Lets time pass, on the clock and in the uptime.
        func pass(_ seconds: Double) {
            moment.withLock { $0 = DeviceMoment(clock: $0.clock + seconds, boot: $0.boot, uptime: $0.uptime + seconds) }
        }

        /// Sets the clock, as a user would.
        func setClock(by seconds: Double) { moment.withLock { $0.clock += seconds } }

        /// Turns the machine off for a while and starts it again.
        func restart(after seconds: Double) {
            moment.withLock {
                let boot = $0.boot.isEmpty ? "" : $0.boot + "a"
                $0 = DeviceMoment(clock: $0.clock + seconds, boot: boot, uptime: 1)
            }
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

    /// A systemd unit with `ProcSubset=pid` hides the identifier of the machine's run.
    func testWithoutTheIdentifierOfTheRunTheUptimeTellsARestart() async throws {
        let device = Device(boot: "")
        let log = try log(device, at: try temporaryLog())
        try await log.append([record(at: device.now.clock)])
        device.setClock(by: 25_000 * day)
        device.pass(day)
        try await log.append([record(at: device.now.clock)])
        var count = try await log.count
        XCTAssertEqual(count, 2, "only a day has passed")
        device.restart(after: 30.5 * day)
        try await log.append([record(at: device.now.clock)])
        count = try await log.count
        XCTAssertEqual(count, 2, "the first record is older than 30 days")
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

/// Files that are not logs, and logs that are not writable.
final class GeofenceLogErrorTests: XCTestCase {
    private func run(_ statements: String, on path: String) {
        var database: OpaquePointer?
        XCTAssertEqual(sqlite3_open(path, &database), SQLITE_OK)
        XCTAssertEqual(sqlite3_exec(database, statements, nil, nil, nil), SQLITE_OK, statements)
        sqlite3_close(database)
    }

    private func error(opening path: String) -> GeofenceLogError? {
        do {
            _ = try GeofenceLog(path: path)
            return nil
        } catch { return error }
    }

    func testTheErrorForAMissingFolderContainsThePath() throws {
        let path = try temporaryLog() + "/nowhere/log.db"
        let error = try XCTUnwrap(error(opening: path))
        XCTAssertEqual(error.reason, .cannotOpen)
        XCTAssertEqual(error.path, path)
        XCTAssertEqual(error.message, "unable to open database file")
        XCTAssertEqual(error.code & 0xFF, Int(SQLITE_CANTOPEN))
        XCTAssertTrue(error.description.hasPrefix(path + ": the log cannot be opened"), error.description)
    }

    func testAFileThatIsNotADatabaseIsNotChanged() throws {
        let path = try temporaryLog()
        let text = Data(String(repeating: "no database at all\n", count: 1000).utf8)
        try text.write(to: URL(filePath: path))
        let error = try XCTUnwrap(error(opening: path))
        XCTAssertEqual(error.reason, .notALog)
        XCTAssertEqual(error.message, "file is not a database")
        XCTAssertEqual(try Data(contentsOf: URL(filePath: path)), text)
    }

    func testAForeignDatabaseIsNotChanged() throws {
        let path = try temporaryLog()
        run("CREATE TABLE bookmark (title TEXT); INSERT INTO bookmark VALUES ('home')", on: path)
        let before = try Data(contentsOf: URL(filePath: path))
        XCTAssertEqual(error(opening: path)?.reason, .notALog)
        XCTAssertEqual(try Data(contentsOf: URL(filePath: path)), before)
    }

    func testALogWithANewerVersionIsNotChanged() async throws {
        let path = try temporaryLog()
        let log = try GeofenceLog(path: path)
        try await log.append([record(at: 1)])
        await log.close()
        run("PRAGMA user_version = 2", on: path)
        let error = try XCTUnwrap(error(opening: path))
        XCTAssertEqual(error.reason, .newerVersion(found: 2, known: 1))
        XCTAssertTrue(error.description.contains("version 2"), error.description)
        run("PRAGMA user_version = 1", on: path)
        let count = try await GeofenceLog(path: path).count
        XCTAssertEqual(count, 1)
    }
}

/// The log that a process leaves when it is killed while it writes.
final class GeofenceLogKillTests: XCTestCase {
    /// Starts the writer program, which is in the same folder as the tests.
    private func start(_ path: String, limit: Int) throws -> (Process, FileHandle) {
        let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let process = Process()
        process.executableURL = tests.resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "KilledProcess")
        process.arguments = ["fences", path, "\(limit)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return (process, output.fileHandleForReading)
    }

    private func integrity(of path: String) -> String {
        var database: OpaquePointer?
        var statement: OpaquePointer?
        defer {
            sqlite3_finalize(statement)
            sqlite3_close(database)
        }
        guard sqlite3_open(path, &database) == SQLITE_OK,
            sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0)
        else { return "the check failed" }
        return String(cString: text)
    }

    func testEveryReportedRecordSurvivesAKill() async throws {
        let seed: UInt64 = 815
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let path = try temporaryLog()
        var last: Int64 = 0
        var unreported = 0
        for round in 0..<40 {
            let (process, output) = try start(path, limit: 1_000_000)
            // The writer is at work once it has printed a number. The kill follows after a random delay.
            var printed = output.availableData
            let microseconds = UInt32.random(in: 0..<30_000, using: &random)
            usleep(microseconds)
            kill(process.processIdentifier, SIGKILL)
            printed += try output.readToEnd() ?? Data()
            process.waitUntilExit()
            let context = "round \(round), killed after \(microseconds) µs, seed \(seed)"
            let numbers = String(decoding: printed, as: UTF8.self).split(separator: "\n").compactMap { Int64($0) }
            let lastReported = try XCTUnwrap(numbers.last, context)
            XCTAssertEqual(integrity(of: path), "ok", context)
            let log = try GeofenceLog(path: path)
            let kept = try await log.records().map(\.id).sorted()
            await log.close()
            // Numbers without a gap: all reported records are there, and pairs are complete.
            XCTAssertEqual(kept, Array(1...Int64(kept.count)), context)
            XCTAssertEqual(kept.count % 2, 0, context)
            XCTAssertGreaterThanOrEqual(Int64(kept.count), lastReported, context)
            XCTAssertGreaterThan(lastReported, last, context)
            // A kill between writing and reporting leaves one more pair, and half of a reported pair.
            XCTAssertLessThanOrEqual(Int64(kept.count), lastReported + 3, context)
            if Int64(kept.count) > lastReported { unreported += 1 }
            last = Int64(kept.count)
        }
        print("\(last) records after 40 kills, \(unreported) of them between writing and reporting")
    }
}

/// The plugin with a real session, whose events come from a geofence around the position that a test provides.
final class GeofenceLoggerTests: XCTestCase {
    private let clock = ManualClock()
    private let source = ScriptedSource()
    private let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)

    private var venue: Venue {
        Venue(
            id: 1, name: "hall", maps: [VenueMap(id: 10, name: "ground", level: 0, width: 40, height: 30)],
            beacons: [VenueBeacon(identity: beacon, mapID: 10, point: MapPoint(x: 5, y: 5))],
            rooms: [Room(id: 3, name: "hall", mapID: 10, area: .circle(center: MapPoint(x: 5, y: 5), radius: 100))],
            fences: [Fence(id: 7, name: "door", mapID: 10, area: .circle(center: MapPoint(x: 5, y: 5), radius: 100))])
    }

    private func localizer() -> Localizer {
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 100
        settings.areaDwell = .zero
        return Localizer(
            source: source, venues: ScriptedVenueSource([venue]), settings: settings, clock: clock, seed: 1)
    }

    /// Starts a session, sends readings of the beacon, and waits for the first event of the geofence.
    private func enter(_ localizer: Localizer) async throws {
        let (states, events) = (localizer.states, localizer.events)
        await localizer.start()
        try await Bounded.wait(for: "the scan") { [source] in try await source.waitForScans(1) }
        _ = try await Bounded.elements(of: states, until: "the search") { $0 == .searchVenue }
        for tick in 0..<80 {
            source.send(
                .sighting(Sighting(instant: Instant(seconds: Double(tick) / 10), beacon: beacon, rssi: -60)))
        }
        _ = try await Bounded.elements(of: events, until: "the entry of the fence") { $0.fence != nil }
    }

    func testAllEventsBeforeStopAreInTheLog() async throws {
        let path = try temporaryLog()
        let localizer = localizer()
        let host = PluginHost(localizer: localizer, clock: ManualClock())
        let logger = await host.add(GeofenceLogger(), arguments: .init(path: path) { 1_700_000_000 })
        XCTAssertNotNil(logger)
        try await enter(localizer)
        await localizer.stop()  // leaves the room and the fence
        let isStopped = await host.stopAll()
        XCTAssertTrue(isStopped)
        let read = try await GeofenceLog(path: path).records()
        let reported = await localizer.eventHistory.events
        XCTAssertEqual(reported.count, 4)
        XCTAssertEqual(read.map(\.instant), reported.map(\.instant))
        XCTAssertEqual(read.map(\.name), ["hall", "door", "hall", "door"])
        XCTAssertEqual(read.map(\.kind), [.room, .fence, .room, .fence])
        XCTAssertEqual(read.map(\.areaID), ["3", "7", "3", "7"])
        XCTAssertEqual(read.map(\.isEntry), [true, true, false, false])
        XCTAssertEqual(Set(read.map(\.time)), [1_700_000_000])
    }

    func testTheLoggerWritesOnlyTheRequestedKinds() async throws {
        let path = try temporaryLog()
        let localizer = localizer()
        let host = PluginHost(localizer: localizer, clock: ManualClock())
        await host.add(GeofenceLogger(), arguments: .init(path: path, kinds: [.fence]))
        try await enter(localizer)
        await localizer.stop()
        await host.stopAll()
        let read = try await GeofenceLog(path: path).records()
        XCTAssertEqual(read.map(\.name), ["door", "door"])
        XCTAssertGreaterThan(try XCTUnwrap(read.first).time, 1_700_000_000, "the time is that of the device's clock")
    }

    func testAPluginWhoseLogCannotBeOpenedIsNotAdded() async throws {
        let path = try temporaryLog() + "/nowhere/log.db"
        let host = PluginHost(localizer: localizer(), clock: ManualClock())
        let failures = host.failures
        let logger = await host.add(GeofenceLogger(), arguments: .init(path: path))
        XCTAssertNil(logger)
        let failure = try await Bounded.first(1, of: failures)[0]
        XCTAssertEqual(failure.occasion, .initializing)
        XCTAssertTrue(failure.cause.contains("unable to open database file"), failure.cause)
    }

    func testTheLoggerWritesRecordsAfterAFailureLater() async throws {
        let path = try temporaryLog()
        let localizer = localizer()
        let host = PluginHost(localizer: localizer, clock: ManualClock())
        var settings = GeofenceLogSettings()
        settings.busyTimeout = .milliseconds(1)
        let failures = host.failures
        let added = await host.add(GeofenceLogger(), arguments: .init(path: path, settings: settings))
        let logger = try XCTUnwrap(added)
        // Another program that keeps the log locked.
        var other: OpaquePointer?
        XCTAssertEqual(sqlite3_open(path, &other), SQLITE_OK)
        defer { sqlite3_close(other) }
        XCTAssertEqual(sqlite3_exec(other, "BEGIN IMMEDIATE", nil, nil, nil), SQLITE_OK)
        try await enter(localizer)
        for failure in try await Bounded.first(2, of: failures) {
            XCTAssertEqual(failure.occasion, .working)
            XCTAssertTrue(failure.cause.contains("locked"), failure.cause)
        }
        let pending = await logger.pendingRecords
        XCTAssertEqual(pending, 2)
        XCTAssertEqual(sqlite3_exec(other, "COMMIT", nil, nil, nil), SQLITE_OK)
        await localizer.stop()
        await host.stopAll()
        let read = try await GeofenceLog(path: path).records().map(\.name)
        XCTAssertEqual(read, ["hall", "door", "hall", "door"])
        let lost = await logger.lostRecords
        XCTAssertEqual(lost, 0)
    }
}

extension XCTestCase {
    /// Returns the path of a log that does not exist yet, in a folder that is removed after the test.
    func temporaryLog() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "geofences-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
        return folder.appending(path: "log.db").path
    }

    /// Returns a record, by default of geofence 7 of venue 1.
    func record(
        at time: Double, fence: Int = 7, venue: VenueID = 1, kind: GeofenceRecord.Kind = .fence, name: String = "door",
        isEntry: Bool = true
    ) -> GeofenceRecord {
        GeofenceRecord(
            time: time, instant: Instant(seconds: time - 1000), venueID: venue, kind: kind, areaID: "\(fence)",
            name: name, isEntry: isEntry)
    }

    /// Asserts that an asynchronous call throws a log error with that reason.
    func assertThrows(
        _ reason: GeofenceLogError.Reason, _ message: String = "", line: UInt = #line,
        _ body: () async throws -> Void
    ) async {
        do {
            try await body()
            XCTFail("no error. \(message)", line: line)
        } catch {
            XCTAssertEqual((error as? GeofenceLogError)?.reason, reason, "\(error). \(message)", line: line)
        }
    }
}
