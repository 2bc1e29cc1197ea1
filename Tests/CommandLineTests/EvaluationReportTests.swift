import Foundation
import XCTest

final class EvaluationReportTests: XCTestCase {
    func testAReportHasTheScoresAndFiguresAndLoadsNothing() throws {
        let folder = try temporaryFolder()
        let set = try ShortDataSet.write(to: folder)
        let reports = folder + "/reports"
        let result = try Tool.run(["evaluate", set, "--report", reports])
        XCTAssertEqual(result.status, 0, result.errors)
        let page = String(decoding: try bytes(reports + "/report-set.html"), as: UTF8.self)
        let line = try XCTUnwrap(result.lines.first)
        XCTAssertTrue(page.contains("<h2>Beacons</h2>"))
        XCTAssertTrue(page.contains("content=\"\(line)\""), "the printed score is in the page")
        for method in ["particle", "fingerprint", "trilateration"] {
            XCTAssertTrue(page.contains("<th scope=\"row\">\(method)</th>"), method)
        }
        for title in [
            "Distribution of the error", "Error over time", "short", "Expected RSSI of the strongest beacon",
            "Measured minus expected RSSI on the tracks", "RSSI over distance on the tracks",
            "Expected 68 % error: Office",
        ] {
            XCTAssertTrue(page.contains("<title>\(title)</title>"), title)
        }
        let pages = [page, String(decoding: try bytes(reports + "/index.html"), as: UTF8.self)]
        for page in pages {
            XCTAssertFalse(page.contains("<script"))
            XCTAssertTrue(page.contains("default-src 'none'"))
            let addresses = page.matches(of: /(?:href|src|url)\s*[=(]\s*"?([^"\s>)]+)/).map { String($0.1) }
            XCTAssertTrue(addresses.allSatisfy { $0.hasPrefix("./") }, "\(addresses)")
        }
        let mode = try FileManager.default.attributesOfItem(atPath: reports + "/report-set.html")[.posixPermissions]
        XCTAssertEqual(mode as? Int, 0o600)
    }

    func testTheIndexListsTheReportsOfAllSetsWithTheirScores() throws {
        let folder = try temporaryFolder()
        let set = try ShortDataSet.write(to: folder)
        let hostile = folder + "/<b>&\"x:y\""
        try FileManager.default.moveItem(atPath: set, toPath: hostile)
        let reports = folder + "/reports"
        let first = try Tool.run(["evaluate", hostile, "--report", reports, "--method", "trilateration"])
        XCTAssertEqual(first.status, 0, first.errors)
        try FileManager.default.moveItem(atPath: hostile, toPath: set)
        let second = try Tool.run(["evaluate", set, "--report", reports, "--method", "fingerprint", "--shift=5"])
        XCTAssertEqual(second.status, 0, second.errors)
        let index = String(decoding: try bytes(reports + "/index.html"), as: UTF8.self)
        XCTAssertTrue(index.contains("&lt;b&gt;&amp;&quot;x:y&quot;</a>"), index)
        XCTAssertFalse(index.contains("<b>"))
        XCTAssertTrue(index.contains("<a href=\"./report-set.html\">set</a><br>set: n "), index)
        let page = String(decoding: try bytes(reports + "/report-set.html"), as: UTF8.self)
        XCTAssertTrue(page.contains("RSSI +5.0 dB"))
        XCTAssertFalse(page.contains("trilateration"), "only the given method is evaluated")
    }

    func testAReportIsNotReplacedUnasked() throws {
        let folder = try temporaryFolder()
        let set = try ShortDataSet.write(to: folder)
        try Data("mine".utf8).write(to: URL(filePath: folder + "/report-set.html"))
        let arguments = ["evaluate", set, "--report", folder, "--method", "fingerprint"]
        let refused = try Tool.run(arguments)
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.errors.contains("already exists: use --overwrite"), refused.errors)
        XCTAssertEqual(try bytes(folder + "/report-set.html"), Data("mine".utf8))
        XCTAssertEqual(try Tool.run(arguments + ["--overwrite"]).status, 0)
        XCTAssertGreaterThan(try bytes(folder + "/report-set.html").count, 10_000)
    }

    func testADataSetWithoutGroundTruthHasNoReport() throws {
        let folder = try temporaryFolder()
        let set = try ShortDataSet.write(to: folder)
        var track = try ShortRecording(lines: 250)
        track.lines.removeAll { $0.contains("\"truth\"") }
        _ = try track.write(to: set + "/tracks")
        let reports = folder + "/reports"
        let result = try Tool.run(["evaluate", set, "--report", reports, "--method", "fingerprint"])
        XCTAssertEqual(result.status, 1)
        let message = "positions are compared with lines of type truth; the report was not written"
        XCTAssertTrue(result.errors.contains(message), result.errors)
        XCTAssertFalse(FileManager.default.fileExists(atPath: reports + "/report-set.html"))
    }

    func testTheFolderOfReportsMustNotBeAFile() throws {
        let folder = try temporaryFolder()
        let file = folder + "/report.html"
        try Data().write(to: URL(filePath: file))
        let result = try Tool.run(["evaluate", try ShortDataSet.write(to: folder), "--report", file])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("--report: \(file) is a file; give a folder"), result.errors)
    }

    func testAReportOfSeveralShiftsOrOfMotionIsRefused() throws {
        for arguments in [["--shift=0,5"], ["--motion"]] {
            let result = try Tool.run(["evaluate", "Fixtures/office", "--report", "reports"] + arguments)
            XCTAssertEqual(result.status, 2)
            XCTAssertTrue(result.errors.contains("--report can't be combined with"), result.errors)
        }
    }
}
