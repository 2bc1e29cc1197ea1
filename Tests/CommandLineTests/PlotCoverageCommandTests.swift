import Foundation
import FoundationXML
import IndoorLocalizationTesting
import XCTest

final class PlotCoverageCommandTests: XCTestCase {
    func testTheDrawingHasEachMapAndTheProposals() throws {
        let file = try temporaryFolder() + "/coverage.svg"
        let result = try Tool.run([
            "plot", "coverage", "--venue", "Fixtures/office", "--beacons", "2", "--target", "3", "--output", file,
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        let svg = try String(contentsOfFile: file, encoding: .utf8)
        XCTAssertNoThrow(try XMLDocument(xmlString: svg))
        XCTAssertTrue(svg.contains("Expected 68 % error (m)"), svg)
        XCTAssertTrue(svg.contains("proposed beacons"))
        let lines = result.output.split(separator: "\n")
        XCTAssertTrue(svg.contains("<title>Expected 68 % error: Office</title>"), svg)
        let map = try XCTUnwrap(lines.first)
        XCTAssertTrue(map.contains(": the mean expected 68 % error is "), result.output)
        XCTAssertTrue(
            map.hasSuffix(" % of the walkable area has an expected error of at most 3.00 m."), result.output)
        let proposal = try XCTUnwrap(lines.last)
        XCTAssertTrue(proposal.hasPrefix("Proposed beacon 2 at ("), result.output)
        XCTAssertTrue(proposal.contains(": with it, the mean expected 68 % error of all maps is "), result.output)
    }

    func testTheDrawingGoesToStandardOutputWithoutAFile() throws {
        let result = try Tool.run(["plot", "coverage", "--venue", "Fixtures/office", "--map", "1"])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertNoThrow(try XMLDocument(xmlString: result.output))
        XCTAssertTrue(result.output.contains("Proposed beacon 1 at ("), "one beacon is proposed by default")
        XCTAssertFalse(result.output.contains("Proposed beacon 2 at ("))
    }

    func testJSONHasTheErrorOfEachCell() throws {
        let result = try Tool.run([
            "plot", "coverage", "--venue", "Fixtures/office", "--map", "1", "--beacons", "1", "--json",
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        let object = try XCTUnwrap(
            JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        let maps = try XCTUnwrap(object["maps"] as? [[String: Any]])
        XCTAssertEqual(maps.count, 1)
        XCTAssertEqual(maps[0]["mapId"] as? Int, 1)
        let cells = try XCTUnwrap(maps[0]["errors"] as? [Any])
        XCTAssertEqual(cells.count, (maps[0]["columns"] as? Int ?? 0) * (maps[0]["rows"] as? Int ?? 0))
        let mean = try XCTUnwrap(maps[0]["meanError"] as? Double)
        let proposals = try XCTUnwrap(object["proposedBeacons"] as? [[String: Any]])
        XCTAssertEqual(proposals.count, 1)
        XCTAssertLessThan(try XCTUnwrap(proposals[0]["meanError"] as? Double), mean)
    }

    func testInvalidOptionsAreReported() throws {
        let venue = ["plot", "coverage", "--venue", "Fixtures/office"]
        let missing = try Tool.run(["plot", "coverage"])
        XCTAssertEqual(missing.status, 2)
        XCTAssertTrue(missing.errors.contains("--venue is missing"), missing.errors)
        let target = try Tool.run(venue + ["--json", "--target", "0"])
        XCTAssertEqual(target.status, 2)
        XCTAssertTrue(
            target.errors.contains("--target must be a number of metres from 0.1 to 1000, not '0'"), target.errors)
        let map = try Tool.run(venue + ["--json", "--map", "99"])
        XCTAssertEqual(map.status, 2)
        XCTAssertTrue(map.errors.contains("has no map 99"), map.errors)
    }
}
