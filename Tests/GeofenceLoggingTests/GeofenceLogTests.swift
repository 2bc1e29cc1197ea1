import CSQLite
import Foundation
import GeofenceLogging
import IndoorLocalization
import XCTest

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
        let logs = [try GeofenceLog(path: path), try GeofenceLog(path: path)]
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
