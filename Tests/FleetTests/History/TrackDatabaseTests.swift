import Foundation
import IndoorLocalizationTesting
import TagTracking
import XCTest

/// The command `track` of the fleet's program, which writes to a real database without a broker.
final class TrackDatabaseTests: HistoryTestCase {
    /// The arguments of a demonstration, which ends after some seconds.
    private func demo(_ address: String, seconds: Int = 3600, _ more: [String] = []) -> [String] {
        [
            "track", "--demo", "--class", "light", "--seconds", "\(seconds)", "--database", address,
        ] + more
    }

    /// Returns the tag, the epoch and the sequence of each printed output, sorted.
    private func printed(_ output: String) throws -> [String] {
        try output.split(separator: "\n").map { line in
            let output = try FleetOutput(json: Array(line.utf8))
            return "\(output.tag) \(output.epoch) \(output.sequence)"
        }.sorted()
    }

    private func stored(_ connection: TestDatabase) throws -> Set<String> {
        Set(try connection.run("SELECT tag, epoch, sequence FROM indoorloc_history"))
    }

    /// Waits until outputs are rows, as the program's end limits the time to write what still waits.
    private func waitForRows(_ outputs: [String], _ connection: TestDatabase) throws {
        let deadline = ContinuousClock.now + Bounded.longest
        while try !stored(connection).isSuperset(of: outputs), ContinuousClock.now < deadline { poll(nil, 0, 100) }
    }

    func testEachOutputIsARowAndTheLatestOneOfEachTagIsKept() throws {
        let address = try database()
        let program = try FleetProgram(demo(address, ["--create"]), folder: try temporaryFolder())
        let waiting = try printed(program.printedLines(atLeast: 101))
        let connection = try TestDatabase(address)
        try connection.wait(for: ["t"], of: "SELECT to_regclass('indoorloc_history') IS NOT NULL")
        try waitForRows(waiting, connection)
        program.send(SIGTERM)
        let result = try program.end()
        XCTAssertEqual(result.status, 0, result.errors)
        let outputs = try printed(result.output)
        let rows = try connection.run("SELECT tag, epoch, sequence FROM indoorloc_history").sorted()
        XCTAssertEqual(rows, outputs)
        let latest = try connection.run("SELECT count(*), count(x) FROM indoorloc_latest")
        let tags = Set(outputs.map { $0.split(separator: " ")[0] }).count
        XCTAssertEqual(latest.first?.split(separator: " ").first, "\(tags)")
        XCTAssertTrue(result.errors.contains("\(outputs.count) outputs stored"), result.errors)
    }

    func testTheTrackingGoesOnWhileTheDatabaseIsAwayAndItsRowsFollow() throws {
        let server = try server()
        try TestDatabase(server.address()).run("CREATE DATABASE positions")
        let address = server.address("positions")
        let first = try FleetProgram(
            demo(address, seconds: 2, ["--create"]), folder: try temporaryFolder()
        ).end()
        XCTAssertEqual(first.status, 0, first.errors)
        server.kill()
        let program = try FleetProgram(demo(address), folder: try temporaryFolder())
        // The outputs of the first seconds wait for the server.
        try program.wait(for: "trying again")
        try server.restart()
        try program.wait(for: "connected to the database")
        let connection = try TestDatabase(address)
        try waitForRows(printed(program.printedLines(atLeast: 101)), connection)
        program.send(SIGTERM)
        let result = try program.end()
        XCTAssertEqual(result.status, 0, result.errors)
        let (rows, outputs) = (try stored(connection), try printed(result.output))
        XCTAssertGreaterThan(outputs.count, 100)
        XCTAssertEqual(outputs.filter { !rows.contains($0) }, [])
    }

    func testADatabaseWithoutTablesIsNamedAndTheTrackingGoesOn() throws {
        let program = try FleetProgram(demo(try database()), folder: try temporaryFolder())
        try program.wait(for: "outputs are not stored")
        let earlier = try printed(program.printedLines(atLeast: 1)).count
        _ = try program.printedLines(atLeast: earlier + 50)
        program.send(SIGTERM)
        let result = try program.end()
        XCTAssertEqual(result.status, 0, result.errors)
    }

    func testOptionsOfTheDatabaseRequireIt() throws {
        let result = try FleetProgram(
            ["track", "--demo", "--create"], folder: try temporaryFolder()
        ).end()
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("--create requires --database"), result.errors)
        let address = try FleetProgram(
            ["track", "--demo", "--database", "postgresql://user:secret@host/x"], folder: try temporaryFolder()
        ).end()
        XCTAssertEqual(address.status, 2)
        XCTAssertFalse(address.errors.contains("secret"), address.errors)
    }
}
