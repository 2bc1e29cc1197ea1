import Foundation
import IndoorLocalizationTesting
import XCTest

final class SurveyReportTests: XCTestCase {
    func testTheReportIsOnePageWithAdviceErrorsAndBeacons() throws {
        let folder = try temporaryFolder()
        // Halves of two recordings, as the report locates each of them.
        let recordings = try ["ground-west", "upper-west"].map { name in
            let path = try FixtureFolder("office/survey").file(name + ".jsonl")
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").prefix(900)
            let half = "\(folder)/\(name).jsonl"
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: half))
            return half
        }
        let result = try Tool.run(
            [
                "survey", "--venue", "Fixtures/office", "--output", folder + "/map.json", "--report",
                folder + "/report.html",
            ] + recordings)
        XCTAssertEqual(result.status, 0, result.errors)
        let page = try String(contentsOfFile: folder + "/report.html", encoding: .utf8)
        for heading in ["Advice", "Expected error", "Gaps", "Beacons", "Survey points"] {
            XCTAssertTrue(page.contains("<h2>\(heading)</h2>"), heading)
        }
        XCTAssertTrue(page.contains("Positions in recordings that were left out of the survey have a mean error of "))
        for title in ["instants", "RMS residual (dB)", "mean residual (dB)"] {
            XCTAssertTrue(page.contains(">\(title)</th>"), title)
        }
        XCTAssertTrue(page.contains(" % are on the right floor."))
        XCTAssertTrue(page.contains("<svg"))
        XCTAssertFalse(page.contains("<script"))
        XCTAssertFalse(page.contains("src="))
        XCTAssertTrue(result.errors.contains("a 68 % error of "), result.errors)
        XCTAssertTrue(result.output.hasPrefix("\(folder)/map.json: "), result.output)
        XCTAssertTrue(result.output.contains(" survey points, "), result.output)
    }

    func testAnExistingReportIsKept() throws {
        let folder = try temporaryFolder()
        try "kept".write(toFile: folder + "/report.html", atomically: true, encoding: .utf8)
        let result = try Tool.run([
            "survey", "--venue", "Fixtures/office", "--output", folder + "/map.json", "--report",
            folder + "/report.html", "Fixtures/office/survey/ground-west.jsonl",
        ])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(try String(contentsOfFile: folder + "/report.html", encoding: .utf8), "kept")
        XCTAssertFalse(FileManager.default.fileExists(atPath: folder + "/map.json"))
    }
}
