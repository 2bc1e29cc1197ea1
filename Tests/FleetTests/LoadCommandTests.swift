import Foundation
import XCTest

final class LoadCommandTests: XCTestCase {
    private func run(_ arguments: String...) throws -> FleetProgram.Result {
        try FleetProgram(["load"] + arguments, folder: try temporaryFolder()).end()
    }

    /// The figures of a report by name.
    private func figures(_ text: String) -> [String: String] {
        let pairs = text.split(separator: "\n").compactMap { line -> (String, String)? in
            guard let gap = line.firstRange(of: "  ") else { return nil }
            return (String(line[..<gap.lowerBound]), line[gap.upperBound...].trimmingCharacters(in: .whitespaces))
        }
        return Dictionary(pairs) { first, _ in first }
    }

    func testTheReportCountsTheSimulatedReadingsAndTheirPositions() throws {
        let result = try run(
            "--tags", "60", "--receivers", "60", "--cores", "2", "--seconds", "4", "--warm-up", "4")
        XCTAssertEqual(result.status, 0, result.errors)
        let figures = figures(result.output)
        XCTAssertEqual(figures["receivers"], "60 on 2 floors")
        let readings = try XCTUnwrap(figures["readings"]?.split(separator: ",").first.flatMap { Int($0) })
        // 60 tags, 4 advertisements each, and three to four receivers of each, with the tags at the edge of the building.
        XCTAssertTrue((600...1200).contains(readings), result.output)
        let positions = try XCTUnwrap(figures["positions"].flatMap { Int($0) })
        // Each tag has a position a second.
        XCTAssertTrue((200...260).contains(positions), result.output)
        // A reading waits for the end of the reorder window, and at most a second for the tag's next position.
        let latency = try XCTUnwrap(figures["latency"]?.split(separator: " ").dropFirst().first.flatMap { Double($0) })
        XCTAssertTrue((0.3...1.5).contains(latency), result.output)
        XCTAssertGreaterThan(
            try XCTUnwrap(figures["memory"]?.split(separator: " ").first.flatMap { Int($0) }), 100, result.output)
    }

    func testTheSameSeedGivesTheSameReadings() throws {
        let runs = try (0..<2).map { _ in
            figures(
                try run("--tags", "20", "--receivers", "10", "--seconds", "3", "--warm-up", "1", "--seed", "7").output)
        }
        XCTAssertNotNil(runs[0]["readings"])
        XCTAssertEqual(runs[0]["readings"], runs[1]["readings"])
        XCTAssertEqual(runs[0]["positions"], runs[1]["positions"])
    }
}
