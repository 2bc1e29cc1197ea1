import CSQLite
import Foundation
import IndoorLocalization
import RecordUpload
import XCTest

/// The records that a queue keeps and drops, and the order in which it returns them.
final class UploadQueueTests: XCTestCase {
    func testQueuesThatWaitForALockLeaveTheThreadsOfOtherTasksFree() async throws {
        let folder = try temporaryFolder()
        // More than processors: the threads that tasks share would all wait.
        let count = 4 * ProcessInfo.processInfo.activeProcessorCount
        let queues = try (0..<count).map { try UploadQueue(path: folder + "/\($0).db", busyTimeout: .seconds(20)) }
        var locks: [OpaquePointer?] = []
        for number in 0..<count {
            var lock: OpaquePointer?
            XCTAssertEqual(sqlite3_open(folder + "/\(number).db", &lock), SQLITE_OK)
            XCTAssertEqual(sqlite3_exec(lock, "BEGIN IMMEDIATE", nil, nil, nil), SQLITE_OK)
            locks.append(lock)
        }
        let begun = ContinuousClock.now
        let appends = queues.map { queue in Task { try await queue.append(UploadRecord.numbered(1...1)) } }
        // These tasks run although every queue waits for its lock.
        for _ in 0..<100 { await Task.detached { await Task.yield() }.value }
        for lock in locks {
            XCTAssertEqual(sqlite3_exec(lock, "COMMIT", nil, nil, nil), SQLITE_OK)
            sqlite3_close(lock)
        }
        let released = begun.duration(to: .now)
        for append in appends {
            let numbers = try await append.value
            XCTAssertEqual(numbers, [1])
        }
        XCTAssertLessThan(released, .seconds(15), "the tasks waited for the locks")
    }

    func testABatchHasTheOldestRecordsAndStaysTheSameUntilItIsConfirmed() async throws {
        let queue = try UploadQueue(path: try temporaryFolder() + "/uploads.db")
        let numbers = try await queue.append(UploadRecord.numbered(1...5))
        XCTAssertEqual(numbers, [1, 2, 3, 4, 5])
        let first = try await queue.nextBatch(size: 3, device: "a \"device\"\n")
        let batch = try ReadBatch(try XCTUnwrap(first).body)
        XCTAssertEqual(batch.format, "indoor-localization-records")
        XCTAssertEqual(batch.version, 1)
        XCTAssertEqual(batch.device, "a \"device\"\n")
        XCTAssertEqual(batch.batch, first?.id)
        XCTAssertEqual(batch.records.map(\.number), [1, 2, 3])
        XCTAssertEqual(batch.records.map(\.time), [1, 2, 3])
        try await queue.append(UploadRecord.numbered(6...9))
        let again = try await queue.nextBatch(size: 100, device: "a \"device\"\n")
        XCTAssertEqual(again, first)
        try await queue.confirm(try XCTUnwrap(again))
        let second = try await queue.nextBatch(size: 100, device: "a")
        XCTAssertEqual(try ReadBatch(try XCTUnwrap(second).body).records.map(\.number), [4, 5, 6, 7, 8, 9])
        XCTAssertNotEqual(second?.id, first?.id)
        let counts = try await queue.counts
        XCTAssertEqual(counts.sent, 3)
        XCTAssertEqual(counts.waiting, 6)
    }

    func testAnUnconfirmedBatchIsTheSameInTheNextRun() async throws {
        let path = try temporaryFolder() + "/uploads.db"
        let queue = try UploadQueue(path: path)
        try await queue.append(UploadRecord.numbered(1...4))
        let before = try await queue.nextBatch(size: 2, device: "a")
        await queue.close()
        let next = try UploadQueue(path: path)
        try await next.append(UploadRecord.numbered(5...5))
        let after = try await next.nextBatch(size: 4, device: "a")
        XCTAssertEqual(after, before)
        do {
            _ = try await queue.waiting
            XCTFail("no error")
        } catch { XCTAssertEqual(error.reason, .closed) }
    }

    func testABatchKeepsItsIdentifierWhenItsOldestRecordsAreDropped() async throws {
        let queue = try UploadQueue(path: try temporaryFolder() + "/uploads.db", limit: 5)
        try await queue.append(UploadRecord.numbered(1...4))
        let before = try await queue.nextBatch(size: 3, device: "a")
        try await queue.append(UploadRecord.numbered(5...7))
        let counts = try await queue.counts
        XCTAssertEqual(counts.dropped, 2)
        XCTAssertEqual(counts.waiting, 5)
        let batch = try await queue.nextBatch(size: 3, device: "a")
        XCTAssertEqual(batch?.id, before?.id)
        let read = try ReadBatch(try XCTUnwrap(batch).body)
        XCTAssertEqual(read.records.map(\.number), [3])
        XCTAssertEqual(read.dropped, 2)
        try await queue.setLimit(2)
        let rest = try await queue.nextBatch(size: 3, device: "a")
        XCTAssertEqual(try ReadBatch(try XCTUnwrap(rest).body).records.map(\.number), [6, 7])
        let last = try await queue.counts
        XCTAssertEqual(last.dropped, 5)
    }

    func testARejectedBatchIsCountedAndADividedOneIsCreatedAgain() async throws {
        let queue = try UploadQueue(path: try temporaryFolder() + "/uploads.db")
        try await queue.append(UploadRecord.numbered(1...4))
        let whole = try await queue.nextBatch(size: 4, device: "a")
        try await queue.divide()
        let half = try await queue.nextBatch(size: 2, device: "a")
        XCTAssertEqual(half?.count, 2)
        XCTAssertNotEqual(half?.id, whole?.id)
        try await queue.reject(try XCTUnwrap(half))
        let counts = try await queue.counts
        XCTAssertEqual(counts.rejected, 2)
        XCTAssertEqual(counts.sent, 0)
        XCTAssertEqual(counts.waiting, 2)
        let rest = try await queue.nextBatch(size: 4, device: "a")
        try await queue.confirm(try XCTUnwrap(rest))
        let nothing = try await queue.nextBatch(size: 4, device: "a")
        XCTAssertNil(nothing)
    }

    func testAForeignFileIsNotChanged() throws {
        let path = try temporaryFolder() + "/other.db"
        var database: OpaquePointer?
        XCTAssertEqual(sqlite3_open(path, &database), SQLITE_OK)
        XCTAssertEqual(sqlite3_exec(database, "CREATE TABLE other (id INTEGER)", nil, nil, nil), SQLITE_OK)
        sqlite3_close(database)
        let before = try Data(contentsOf: URL(filePath: path))
        XCTAssertThrowsError(try UploadQueue(path: path)) {
            XCTAssertEqual(($0 as? UploadQueueError)?.reason, .notAQueue)
            XCTAssertEqual("\($0)", "\(path): not an upload queue; use the path of another file")
        }
        XCTAssertEqual(try Data(contentsOf: URL(filePath: path)), before)
    }

    func testOnlyItsOwnerCanReadTheFile() throws {
        let path = try temporaryFolder() + "/uploads.db"
        _ = try UploadQueue(path: path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o600)
    }
}
