import Foundation
import IndoorLocalizationTesting
import XCTest

/// `evaluate`, `rooms evaluate` and `plot error` on data sets that give no score.
final class MissingScoreTests: XCTestCase {
    private static let method = ["--method", "trilateration"]

    /// A data set of the office with a changed track, whose path is the second value.
    private func set(_ change: (inout [String]) -> Void) throws -> String {
        let folder = try temporaryFolder()
        let set = try ShortDataSet.write(to: folder)
        var track = try ShortRecording(lines: 250)
        change(&track.lines)
        _ = try track.write(to: set + "/tracks")
        return set
    }

    private func assertNoScore(_ set: String, _ reason: String, line: UInt = #line) throws {
        let figure = set + "/error.svg"
        for arguments in [
            ["evaluate", set], ["evaluate", set, "--json"], ["evaluate", set, "--report", set + "/reports"],
            ["plot", "error", set, "--output", figure],
        ] {
            let result = try Tool.run(arguments + Self.method)
            XCTAssertEqual(result.status, 1, "\(arguments)", line: line)
            XCTAssertEqual(result.output, "", "\(arguments)", line: line)
            XCTAssertTrue(result.errors.contains("indoorloc: set: \(reason)"), result.errors, line: line)
        }
        XCTAssertFalse(FileManager.default.fileExists(atPath: figure), line: line)
        XCTAssertFalse(FileManager.default.fileExists(atPath: set + "/reports/report-set.html"), line: line)
    }

    func testTracksWithoutGroundTruth() throws {
        let set = try set { $0.removeAll { $0.contains("\"truth\"") } }
        try assertNoScore(set, "the recordings have no ground truth: ")
    }

    func testTracksWhoseGroundTruthIsOnlyRooms() throws {
        let set = try set { lines in
            lines.removeAll { $0.contains("\"truth\"") }
            lines.append(#"{"t":60,"type":"truth","room":"kitchen","hold":true}"#)
        }
        try assertNoScore(set, "the recordings have no ground truth with a position: ")
    }

    func testTracksWithGroundTruthInAnotherVenue() throws {
        let set = try set { lines in
            lines = lines.map { $0.replacingOccurrences(of: "\"mapId\":1", with: "\"mapId\":77") }
        }
        try assertNoScore(
            set, "the recordings are of another venue: their ground truth is on maps 77, but 'Office' has maps 1, 2")
    }

    func testTracksThatEndBeforeTheFirstScoredInstant() throws {
        let set = try set { $0 = Array($0.prefix(2)) }
        try assertNoScore(set, "the recordings have no ground truth after the first 5 s")
    }

    func testTracksWithoutABeaconOfTheVenue() throws {
        let set = try set { lines in
            lines = lines.map {
                // A beacon is also recognised by its device address.
                $0.replacingOccurrences(of: "\"major\":[0-9]*", with: "\"major\":99", options: .regularExpression)
                    .replacingOccurrences(of: "C4:7C:8D", with: "C4:7C:99")
            }
        }
        try assertNoScore(set, "no position at any of the ")
        let result = try Tool.run(["evaluate", set] + Self.method)
        XCTAssertTrue(result.errors.contains("of which none belongs to 'Office'"), result.errors)
        let gateways = try Tool.run(["evaluate", set, "--gateways", "raw"])
        XCTAssertEqual(gateways.status, 1)
        XCTAssertTrue(gateways.errors.contains("the recordings have too few beacons of 'Office'"), gateways.errors)
    }

    func testTheOtherValuesOfAListAreScored() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let result = try Tool.run(["evaluate", set, "--shift=-60,0"] + Self.method)
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(result.lines.count, 1, result.output)
        XCTAssertTrue(result.output.hasPrefix("set 0.0 dB: n "), result.output)
        XCTAssertTrue(result.errors.contains("set, RSSI -60.0 dB: no position at any of the "), result.errors)
    }

    func testTracksWithoutMotionHaveNoScoreOfMotion() throws {
        let set = try set { $0.removeAll { $0.contains("\"motion\"") || $0.contains("\"step\"") } }
        let result = try Tool.run(["evaluate", set, "--motion"])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(result.output, "")
        XCTAssertTrue(result.errors.contains("set: no track has both motion and a ground truth"), result.errors)
    }
}
