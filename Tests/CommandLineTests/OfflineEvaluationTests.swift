import Foundation
import IndoorLocalizationTesting
import XCTest

final class OfflineEvaluationTests: XCTestCase {
    func testOfflineAddsFiguresOfTheSameInstantsToThoseOfEvaluate() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let plain = try ShortDataSet.figures(Tool.run(["evaluate", set, "--json"] + ShortDataSet.light).output)
        let result = try Tool.run(["evaluate", set, "--json", "--offline"] + ShortDataSet.light)
        XCTAssertEqual(result.status, 0, result.errors)
        var both = try ShortDataSet.figures(result.output)
        let offline = try XCTUnwrap(both.removeValue(forKey: "offline") as? [String: Any])
        XCTAssertEqual(both as NSDictionary, plain as NSDictionary)
        XCTAssertEqual(Set(offline.keys), Set(plain.keys).subtracting(["dataset", "method"]))
        XCTAssertEqual(offline["n"] as? Int, plain["n"] as? Int)
        XCTAssertGreaterThan(try XCTUnwrap(offline["n"] as? Int), 0)
        XCTAssertEqual(offline["answered"] as? Double, 1)
        XCTAssertNotEqual(offline["mean"] as? Double, plain["mean"] as? Double)
    }

    func testOfflinePrintsTwoLinesIndependentOfTheNumberOfJobs() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let result = try Tool.run(["evaluate", set, "--offline", "-j", "1"] + ShortDataSet.light)
        XCTAssertEqual(result.status, 0, result.errors)
        let lines = result.output.split(separator: "\n")
        XCTAssertEqual(lines.count, 2)
        XCTAssertTrue(lines.first?.hasPrefix("set: n ") ?? false, result.output)
        XCTAssertTrue(lines.last?.hasPrefix("set offline: n ") ?? false, result.output)
        let two = try Tool.run(["evaluate", set, "--offline", "-j", "2"] + ShortDataSet.light)
        XCTAssertEqual(result.output, two.output)
    }

    func testOfflineRequiresTheParticleFilter() throws {
        let result = try Tool.run(["evaluate", "Fixtures/office", "--offline", "--method", "fingerprint"])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("--offline requires the method particle"), result.errors)
    }

    func testOfflineCannotBeCombinedWithReplays() throws {
        let result = try Tool.run(["evaluate", "Fixtures/office", "--offline", "--replays", temporaryFolder()])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("--offline can't be combined with --replays"), result.errors)
    }
}
