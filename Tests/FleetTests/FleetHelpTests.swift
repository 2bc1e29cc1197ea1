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
    func testHelpOfFleetSetup() throws { try assertSnapshot(help("setup")) }
    func testHelpOfFleetIngest() throws { try assertSnapshot(help("ingest")) }
    func testHelpOfFleetWork() throws { try assertSnapshot(help("work")) }
    func testHelpOfFleetStore() throws { try assertSnapshot(help("store")) }
    func testHelpOfFleetCompletion() throws { try assertSnapshot(help("completion")) }
    func testHelpOfFleetManual() throws { try assertSnapshot(help("manual")) }
    func testHelpOfFleetLoad() throws { try assertSnapshot(help("load")) }

    func testTheHelpOfTheFleetListsEveryCommandWithASnapshot() throws {
        let listed = try help().split(separator: "\n").filter { $0.hasPrefix("  ") }
            .compactMap { $0.split(separator: " ").first }.map(String.init)
        XCTAssertEqual(listed, ["setup", "ingest", "work", "store", "load", "completion", "manual"])
    }
}
