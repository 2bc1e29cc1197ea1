import CSQLite
import Foundation
import GeofenceLogging
import IndoorLocalization
import XCTest

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
