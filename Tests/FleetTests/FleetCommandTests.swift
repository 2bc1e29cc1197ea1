import Foundation
import IndoorLocalizationTesting
import XCTest

final class FleetHelpTests: XCTestCase {
    private func help(_ arguments: String...) throws -> String {
        let result = try FleetProgram(arguments + ["--help"], folder: try temporaryFolder()).end()
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(result.errors, "")
        return result.output
    }

    /// Compares a help text with `Fixtures/snapshots/<test name>.txt`; with UPDATE_SNAPSHOTS=1 it becomes the snapshot.
    private func assertSnapshot(_ text: String, test: String = #function, line: UInt = #line) throws {
        let path = try FixtureFolder("snapshots").path + "/" + test.replacing("()", with: "") + ".txt"
        if ProcessInfo.processInfo.environment["UPDATE_SNAPSHOTS"] == "1" {
            return try Data(text.utf8).write(to: URL(filePath: path))
        }
        let kept = try? String(contentsOfFile: path, encoding: .utf8)
        XCTAssertEqual(
            text, try XCTUnwrap(kept, "\(path) is missing: make it with UPDATE_SNAPSHOTS=1", line: line),
            "differs from the snapshot; if that is wanted, write it again with UPDATE_SNAPSHOTS=1", line: line)
        for row in text.split(separator: "\n") { XCTAssertLessThanOrEqual(row.count, 100, "\(row)", line: line) }
    }

    func testHelpOfTheFleet() throws { try assertSnapshot(help()) }
    func testHelpOfFleetTrack() throws { try assertSnapshot(help("track")) }
    func testHelpOfFleetSetup() throws { try assertSnapshot(help("setup")) }
    func testHelpOfFleetIngest() throws { try assertSnapshot(help("ingest")) }
    func testHelpOfFleetWork() throws { try assertSnapshot(help("work")) }
    func testHelpOfFleetStore() throws { try assertSnapshot(help("store")) }
    func testHelpOfFleetCompletion() throws { try assertSnapshot(help("completion")) }
    func testHelpOfFleetManual() throws { try assertSnapshot(help("manual")) }
    func testHelpOfFleetLoad() throws { try assertSnapshot(help("load")) }

    func testTheDatabaseOfTrackIsAnAddition() throws {
        let words = try help("track").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        XCTAssertTrue(words.contains("--database DATABASE also write the outputs to this database"), words)
        XCTAssertFalse(words.contains("address of the database"), words)
    }

    func testTheHelpOfTheFleetListsEveryCommandWithASnapshot() throws {
        let listed = try help().split(separator: "\n").filter { $0.hasPrefix("  ") }
            .compactMap { $0.split(separator: " ").first }.map(String.init)
        XCTAssertEqual(listed, ["track", "setup", "ingest", "work", "store", "load", "completion", "manual"])
    }
}

final class LoadCommandTests: XCTestCase {
    private func run(_ arguments: String...) throws -> FleetProgram.Result {
        try FleetProgram(["load"] + arguments, folder: try temporaryFolder()).end()
    }

    /// The figures of a report by name.
    private func figures(_ text: String) -> [String: String] {
        let pairs = text.split(separator: "\n").compactMap { line -> (String, String)? in
            guard let gap = line.firstRange(of: "  ") else { return nil }
            return (String(line[..<gap.lowerBound]), line[gap.upperBound...].trimmingCharacters(in: .whitespaces))
        }
        return Dictionary(pairs) { first, _ in first }
    }

    func testTheReportCountsTheSimulatedReadingsAndTheirPositions() throws {
        let result = try run(
            "--tags", "60", "--receivers", "60", "--cores", "2", "--seconds", "4", "--warm-up", "4")
        XCTAssertEqual(result.status, 0, result.errors)
        let figures = figures(result.output)
        XCTAssertEqual(figures["receivers"], "60 on 2 floors")
        let readings = try XCTUnwrap(figures["readings"]?.split(separator: ",").first.flatMap { Int($0) })
        // 60 tags, 4 advertisements each, and three to four receivers of each, with the tags at the edge of the building.
        XCTAssertTrue((600...1200).contains(readings), result.output)
        let positions = try XCTUnwrap(figures["positions"].flatMap { Int($0) })
        // Each tag has a position a second.
        XCTAssertTrue((200...260).contains(positions), result.output)
        // A reading waits for the end of the reorder window, and at most a second for the tag's next position.
        let latency = try XCTUnwrap(figures["latency"]?.split(separator: " ").dropFirst().first.flatMap { Double($0) })
        XCTAssertTrue((0.3...1.5).contains(latency), result.output)
        XCTAssertGreaterThan(
            try XCTUnwrap(figures["memory"]?.split(separator: " ").first.flatMap { Int($0) }), 100, result.output)
    }

    func testTheSameSeedGivesTheSameReadings() throws {
        let runs = try (0..<2).map { _ in
            figures(
                try run("--tags", "20", "--receivers", "10", "--seconds", "3", "--warm-up", "1", "--seed", "7").output)
        }
        XCTAssertNotNil(runs[0]["readings"])
        XCTAssertEqual(runs[0]["readings"], runs[1]["readings"])
        XCTAssertEqual(runs[0]["positions"], runs[1]["positions"])
    }
}

final class WorkUsageTests: XCTestCase {
    private func work(_ options: String..., environment: [String: String] = [:]) throws -> FleetProgram.Result {
        let arguments = ["work", "--nats", "nats://127.0.0.1:1", "--venue", try FixtureFolder("tags/office").path]
        return try FleetProgram(arguments + options, folder: try temporaryFolder(), environment: environment).end()
    }

    func testWorkRefusesAPasswordFileForABrokerWithoutAUser() throws {
        let result = try work("--outputs", "mqtt://localhost", "--broker-password-file", "password")
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("--broker-password-file requires a user"), result.errors)
    }

    func testWorkSendsNoPasswordUnencryptedToAnotherHost() throws {
        let result = try work(
            "--outputs", "mqtt://fleet@192.0.2.1", environment: ["INDOORLOC_MQTT_PASSWORD": "a password"])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("--outputs: "), result.errors)
    }
}
