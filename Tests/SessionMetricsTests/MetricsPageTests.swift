import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import SessionMetrics
import XCTest

/// The page of the documentation about metrics, and its examples.
final class MetricsPageTests: XCTestCase {
    private func page() throws -> String {
        let root = URL(filePath: try FixtureFolder("office").path).appending(path: "../..")
        return try String(
            contentsOf: root.appending(path: "Sources/IndoorLocalization/IndoorLocalization.docc/Metrics.md"),
            encoding: .utf8)
    }

    /// Facts with all values, so that each family has samples.
    private var facts: SessionFacts {
        let venue = Venue(
            id: 1, name: "office", maps: [VenueMap(id: 10, name: "ground", level: 0, width: 4, height: 3)])
        return SessionFacts(
            uptime: .seconds(60), state: .localizationRunning(RunningState(venue: venue, mapID: 10)),
            place: .init(age: .seconds(0.5), radius: 2.5, floorCertainty: 0.9), beacons: .init(known: 3, unknown: 1),
            consistencyRatio: 1.2, cycleTimes: CycleTimes(), residentMemory: 1 << 26)
    }

    func testThePageListsEachMetricWithItsTypeAndUnit() throws {
        let rows = try page().split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|").prefix(3).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let families = SessionMetrics.families(of: facts).map { family in
            let name = family.kind == .counter ? family.name + "_total" : family.name
            return [
                "`\(name)`", family.kind == .stateSet ? "state set" : family.kind.rawValue, family.unit?.rawValue ?? "",
            ]
        }
        XCTAssertEqual(rows, families)
    }

    func testPromtoolAcceptsTheMetrics() throws {
        XCTAssertTrue(SessionMetrics.families(of: facts).allSatisfy { !$0.samples.isEmpty })
        let text = SessionMetrics.text(of: facts, as: .prometheus)
        let result = try Promtool.run(["check", "metrics"], input: text)
        XCTAssertEqual(result.status, 0, result.output)
        XCTAssertEqual(result.output, "")
        // The check rejects what it should.
        let wrong = text.replacing("# HELP indoorloc_readings_total ", with: "# ")
        XCTAssertNotEqual(try Promtool.run(["check", "metrics"], input: wrong).status, 0)
    }

    func testPromtoolAcceptsTheExamplesOfThePage() throws {
        let blocks = try page().components(separatedBy: "```yaml\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        XCTAssertEqual(blocks.count, 2)
        for (block, command) in zip(blocks, ["config", "rules"]) {
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appending(path: "indoorloc.yml")
            try Data(block.utf8).write(to: file)
            try Data("secret\n".utf8).write(to: folder.appending(path: "indoorloc.token"))
            let result = try Promtool.run(["check", command, file.path])
            XCTAssertEqual(result.status, 0, "\(command): \(result.output)")
        }
        // A rule about a metric that doesn't exist never fires.
        let names = Set(
            SessionMetrics.families(of: facts).map { $0.kind == .counter ? $0.name + "_total" : $0.name })
        let used = blocks[1].matches(of: #/\b(indoorloc_[a-z_]+?|process_[a-z_]+?)(_bucket)?\b/#).map {
            String($0.output.1)
        }
        XCTAssertFalse(used.isEmpty)
        for name in used { XCTAssertTrue(names.contains(name), name) }
    }
}
