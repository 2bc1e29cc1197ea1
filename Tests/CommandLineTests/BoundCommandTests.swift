import Foundation
import XCTest

final class BoundCommandTests: XCTestCase {
    private static let call = ["simulate", "--bound", "--venue", "Fixtures/office"]
    /// Options of a fast computation.
    private static let small = ["--places", "6", "--seconds", "1", "--grid", "1", "--particles", "100"]

    func testSimulatePrintsTheBoundWithTheRatioLast() throws {
        let result = try Tool.run(Self.call + Self.small)
        XCTAssertEqual(result.status, 0, result.errors)
        let names = result.output.split(separator: "\n").map { $0.prefix(23).trimmingCharacters(in: .whitespaces) }
        XCTAssertEqual(
            names,
            [
                "places", "engine", "exact posterior mean", "Cramer-Rao bound", "engine at defaults",
                "engine / exact",
            ])
    }

    func testSimulatePrintsTheBoundAsJSON() throws {
        let result = try Tool.run(Self.call + Self.small + ["--json", "--area", "100"])
        XCTAssertEqual(result.status, 0, result.errors)
        let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Double]
        let figures = try XCTUnwrap(object, result.output)
        XCTAssertEqual(
            Set(figures.keys),
            ["beacons", "places", "engine", "exact", "cramerRao", "engineAtDefaults", "ratio"])
        XCTAssertEqual(figures["places"], 6)
        XCTAssertEqual(figures["beacons"], 8)
    }

    func testInvalidBoundOptionsAreUsageErrors() throws {
        for (words, message) in [
            (["simulate", "--bound"], "--venue is missing"),
            (Self.call + ["--output", "walk.jsonl"], "--output can't be combined with --bound"),
            (Self.call + ["--sigma", "0"], "--sigma must be a number from 0.1 to 20.0, not '0'"),
            (Self.call + ["--places", "0"], "--places must be a whole number from 1 to 1000000, not '0'"),
            (["simulate", "--venue", "Fixtures/office", "--area", "50"], "--area requires --bound"),
        ] {
            let result = try Tool.run(words)
            XCTAssertEqual(result.status, 2, "\(words)")
            XCTAssertTrue(result.errors.contains(message), "\(words): \(result.errors)")
        }
    }

    func testAnUnknownMapIsAFailure() throws {
        let result = try Tool.run(Self.call + Self.small + ["--map", "77"])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(
            result.errors, "indoorloc: Fixtures/office: the venue has no map 77. Use the id of one of its maps.\n")
    }
}
