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
        XCTAssertEqual(result.lines.first, "Fixtures/office: 32 beacons: 32 by UUID")
        XCTAssertTrue(result.lines.dropFirst().first?.hasPrefix(known) ?? false, result.output)
        XCTAssertEqual(result.lines.count, 3)
    }

    func testCheckPrintsTheKindsOfNamesOfBeacons() throws {
        let hall = "Fixtures/identities"
        let kinds = "24 beacons: 6 by UUID, 6 by Eddystone-UID, 6 by AltBeacon id, 6 by address alone"
        XCTAssertEqual(try Tool.run(["venue", "check", hall]).lines, ["\(hall): \(kinds)", "\(hall): no problems"])
        XCTAssertTrue(try Tool.run(["venue", "info", hall]).lines.contains { $0 == kinds })
    }

    func testARecordingOfAdvertisementsIsLocatedAndSurveyedWithoutIBeacons() throws {
        let (hall, walk) = ("Fixtures/identities", "Fixtures/identities/walk.jsonl.gz")
        let replay = try Tool.run(["replay", "--venue", hall, walk])
        XCTAssertEqual(replay.status, 0, replay.errors)
        XCTAssertGreaterThan(replay.lines.count { $0.contains(#""type":"position""#) }, 20)
        let map = try temporaryFolder() + "/map.json"
        let survey = try Tool.run(["survey", "--venue", hall, "--output", map, walk])
        XCTAssertEqual(survey.errors, "")
        XCTAssertTrue(survey.output.contains(" 24 beacons, "), survey.output)
        for name in ["C0:00:00:00:04:01", "edd1ebeac04e5defa017/000000000001", "1/2"] {
            let plot = try Tool.run(["plot", "range", "--venue", hall, "--beacon", name, walk])
            XCTAssertEqual(plot.status, 0, plot.errors)
            XCTAssertTrue(plot.output.contains(name.uppercased() + ": "), name)
        }
        let unknown = try Tool.run(["plot", "range", "--venue", hall, "--beacon", "0/0", walk])
        XCTAssertEqual(unknown.status, 2)
        let examples = "such as 1/1, EDD1EBEAC04E5DEFA017/000000000001, A17BEAC000000000000000000000000100070001"
        XCTAssertTrue(unknown.errors.contains("'0/0' is not a beacon of the venue, \(examples)"), unknown.errors)
    }

    func testCheckOfAnAcceptedPacketWithAWarning() throws {
        let result = try Tool.run(["venue", "check", "Fixtures/packets/accepted/beacon-outside-its-map"])
        XCTAssertEqual(result.status, 0)
        try assertSnapshot(result.output)
    }

    func testCheckNotesAnExpertSetting() throws {
        let packet = "Fixtures/packets/accepted/every-field"
        let result = try Tool.run(["venue", "check", packet])
        XCTAssertEqual(result.status, 0)
        XCTAssertTrue(
            result.lines.contains(
                #"note: $.settings["floor.patience"]: floor.patience is an expert key, which may change or go in any release"#
            ),
            result.output)
        XCTAssertEqual(result.lines.last, "\(packet): 0 errors, 0 warnings, 1 note")
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
