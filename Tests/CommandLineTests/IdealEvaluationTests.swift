import Foundation
import XCTest

final class IdealEvaluationTests: XCTestCase {
    private func evaluate(_ set: String, _ options: String...) throws -> Tool.Result {
        try Tool.run(["evaluate", set, "--json"] + options + ShortDataSet.light)
    }

    func testIdealReadingsReplaceTheRecordedOnes() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let plain = try ShortDataSet.figures(evaluate(set).output)
        let one = try evaluate(set, "--ideal", "-j", "1")
        XCTAssertEqual(one.status, 0, one.errors)
        let ideal = try ShortDataSet.figures(one.output)
        XCTAssertEqual(ideal["n"] as? Int, plain["n"] as? Int)
        XCTAssertNotEqual(ideal["mean"] as? Double, plain["mean"] as? Double)
        XCTAssertEqual(one.output, try evaluate(set, "--ideal", "-j", "2").output)
        let other = try evaluate(set, "--ideal", "--seed", "1")
        XCTAssertNotEqual(one.output, other.output)
    }

    func testIdealCannotBeCombinedWithOfflineOrMotion() throws {
        for option in ["--offline", "--motion"] {
            let result = try Tool.run(["evaluate", "Fixtures/office", "--ideal", option])
            XCTAssertEqual(result.status, 2)
            XCTAssertTrue(result.errors.contains("--ideal can't be combined with --offline or --motion"), result.errors)
        }
    }
}
