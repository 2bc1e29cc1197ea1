import CSQLite
import Foundation
import GeofenceLogging
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// A process that writes a log is killed, and what it leaves is looked at.
final class GeofenceLogKillTests: XCTestCase {
    /// The program lies beside the one that the tests are in.
    private func start(_ path: String, limit: Int) throws -> (Process, FileHandle) {
        let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let process = Process()
        process.executableURL = tests.resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "FenceLogWriter")
        process.arguments = [path, "\(limit)"]
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
        else { return "cannot be asked" }
        return String(cString: text)
    }

    func testEveryRecordThatWasToldOfSurvivesAKill() async throws {
        let seed: UInt64 = 815
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let path = try temporaryLog()
        var last: Int64 = 0
        var untold = 0
        for round in 0..<40 {
            let (process, output) = try start(path, limit: 1_000_000)
            // It is at work once it has told of something; then at any instant of what follows.
            var told = output.availableData
            let microseconds = UInt32.random(in: 0..<30_000, using: &random)
            usleep(microseconds)
            kill(process.processIdentifier, SIGKILL)
            told += try output.readToEnd() ?? Data()
            process.waitUntilExit()
            let context = "round \(round), killed after \(microseconds) µs, seed \(seed)"
            let numbers = String(decoding: told, as: UTF8.self).split(separator: "\n").compactMap { Int64($0) }
            let lastTold = try XCTUnwrap(numbers.last, context)
            XCTAssertEqual(integrity(of: path), "ok", context)
            let log = try GeofenceLog(path: path)
            let kept = try await log.records().map(\.id).sorted()
            await log.close()
            // Numbers without a gap: all that was told of is there, and pairs are whole.
            XCTAssertEqual(kept, Array(1...Int64(kept.count)), context)
            XCTAssertEqual(kept.count % 2, 0, context)
            XCTAssertGreaterThanOrEqual(Int64(kept.count), lastTold, context)
            XCTAssertGreaterThan(lastTold, last, context)
            // A kill between the writing and the telling leaves one pair more, and half a pair that was told.
            XCTAssertLessThanOrEqual(Int64(kept.count), lastTold + 3, context)
            if Int64(kept.count) > lastTold { untold += 1 }
            last = Int64(kept.count)
        }
        print("\(last) records after 40 kills, \(untold) of them between writing and telling")
    }
}
