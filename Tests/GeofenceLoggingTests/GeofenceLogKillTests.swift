import CSQLite
import Foundation
import GeofenceLogging
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

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
