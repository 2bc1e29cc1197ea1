import Foundation
import IndoorLocalizationTesting
import XCTest

final class SurveyReportTests: XCTestCase {
    func testTheReportIsOnePageWithAdviceErrorsAndBeacons() throws {
        let folder = try temporaryFolder()
        let recordings = try FixtureFolder("office/survey").files(ending: ".jsonl").prefix(4)
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
