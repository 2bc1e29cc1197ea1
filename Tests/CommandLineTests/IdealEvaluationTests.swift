import Foundation
import XCTest

final class IdealEvaluationTests: XCTestCase {
    func testIdealReadingsReplaceTheRecordedOnes() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let plain = try ShortDataSet.figures(Tool.run(["evaluate", set, "--json"]).output)
        let one = try Tool.run(["evaluate", set, "--json", "--ideal", "-j", "1"])
        XCTAssertEqual(one.status, 0, one.errors)
        let ideal = try ShortDataSet.figures(one.output)
        XCTAssertEqual(ideal["n"] as? Int, plain["n"] as? Int)
        XCTAssertNotEqual(ideal["mean"] as? Double, plain["mean"] as? Double)
        XCTAssertEqual(one.output, try Tool.run(["evaluate", set, "--json", "--ideal", "-j", "2"]).output)
        let other = try Tool.run(["evaluate", set, "--json", "--ideal", "--seed", "1"])
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
