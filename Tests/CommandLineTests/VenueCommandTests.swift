import Foundation
import IndoorLocalizationTesting
import XCTest

final class VenueCommandTests: XCTestCase {
    func testInfoOfTheOffice() throws {
        let result = try Tool.run(["venue", "info", "Fixtures/office"])
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(result.errors, "")
        try assertSnapshot(result.output)
    }

    func testCheckOfAFlawlessPacket() throws {
        let result = try Tool.run(["venue", "check", "Fixtures/office"])
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(result.lines.last, "Fixtures/office: no problems")
        let beacon = "C4:7C:8D:00:01:01 is 6C1D5B0E-3A47-4F0B-9C7E-0D5A1E2B3C4F/1/1"
        let known = "Fixtures/office: beacons also known by their address: 4 of 32: \(beacon), "
        XCTAssertTrue(result.lines.first?.hasPrefix(known) ?? false, result.output)
        XCTAssertEqual(result.lines.count, 2)
    }

    func testCheckOfAnAcceptedPacketWithAWarning() throws {
        let result = try Tool.run(["venue", "check", "Fixtures/packets/accepted/beacon-outside-its-map"])
        XCTAssertEqual(result.status, 0)
        try assertSnapshot(result.output)
    }

    func testCheckOfARejectedPacket() throws {
        let result = try Tool.run(["venue", "check", "Fixtures/packets/rejected/unknown-map"])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(result.errors, "")
        try assertSnapshot(result.output)
    }

    func testCheckListsAllProblemsInOnePass() throws {
        for name in ["unknown-map", "polygon-with-two-corners"] {
            let folder = try FixtureFolder("packets/rejected/\(name)")
            let expected = try String(contentsOf: URL(filePath: folder.file("expected.txt")), encoding: .utf8)
            let problems = expected.split(separator: "\n").map { $0.replacing(" ", with: ": ", maxReplacements: 1) }
            XCTAssertGreaterThan(problems.count, 1, name)
            let result = try Tool.run(["venue", "check", folder.path])
            XCTAssertEqual(result.lines.count, problems.count + 1, name)
            for (line, problem) in zip(result.lines, problems) {
                XCTAssertTrue(line.hasPrefix(problem + ": "), "\(name): \(line)")
            }
        }
    }

    func testOtherCommandsRefuseAPacketWithAllItsProblems() throws {
        let path = "Fixtures/packets/rejected/unknown-map"
        let result = try Tool.run(["venue", "info", path])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(result.output, "")
        XCTAssertTrue(result.errors.hasPrefix("indoorloc: \(path) is not a usable venue packet:\n"), result.errors)
        XCTAssertTrue(result.errors.contains("$.paths.nodes[0].mapId: "), result.errors)
    }
}
