import Foundation
import IndoorLocalizationTesting
import XCTest

/// `survey --audit` on walks through the office, whose packet has the places of all beacons and no survey.
final class SurveyAuditTests: XCTestCase {
    private static let beacon = "6C1D5B0E-3A47-4F0B-9C7E-0D5A1E2B3C4F/1/5"

    /// All walks through the office, and those that suffice for its ground floor.
    private static let walks =
        ["one-floor", "stairs", "outdoors"].map { "Fixtures/recordings/\($0)/scan.jsonl.gz" }
        + ["Fixtures/office/tracks"]
    private static let groundWalks = [walks[0]] + ["ground", "elevator"].map { "Fixtures/office/tracks/\($0).jsonl" }

    private func audit(
        venue: String = "Fixtures/office", _ options: [String] = [], walks: [String] = walks
    ) throws -> Tool.Result {
        try Tool.run(["survey", "--audit", "--venue", venue] + options + walks)
    }

    /// Returns a copy of the office's packet in which one beacon stands 12 m farther to the right.
    private func packetWithAMovedBeacon() throws -> String {
        let folder = try temporaryFolder() + "/office"
        try FileManager.default.copyItem(atPath: FixtureFolder("office").path, toPath: folder)
        let file = URL(filePath: folder + "/venue.json")
        var venue = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        var beacons = try XCTUnwrap(venue["beacons"] as? [[String: Any]])
        let index = try XCTUnwrap(
            beacons.firstIndex { $0["major"] as? Int == 1 && $0["minor"] as? Int == 5 })
        beacons[index]["x"] = try XCTUnwrap(beacons[index]["x"] as? Double) + 12
        venue["beacons"] = beacons
        try JSONSerialization.data(withJSONObject: venue).write(to: file)
        return folder
    }

    func testTheBeaconsOfACorrectPacketNeedNoTechnician() throws {
        let result = try audit()
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.output.hasSuffix(" received; no beacon needs a technician\n"), result.output)
        XCTAssertEqual(result.lines.count, 1)
    }

    func testABeaconThatStandsElsewhereIsListedWithItsPlace() throws {
        let folder = try packetWithAMovedBeacon()
        let result = try audit(venue: folder, walks: Self.groundWalks)
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.lines.count, 2, result.output)
        XCTAssertTrue(result.lines[0].hasSuffix("; 1 beacon needs a technician"), result.output)
        XCTAssertTrue(result.lines[1].hasPrefix("beacon \(Self.beacon) seems to stand "), result.output)

        let json = try audit(venue: folder, ["--json"], walks: Self.groundWalks)
        let object = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        let findings = try XCTUnwrap(object["findings"] as? [[String: Any]])
        XCTAssertEqual(findings.map { $0["beacon"] as? String }, [Self.beacon])
        XCTAssertEqual(findings.first?["kind"] as? String, "moved")
        let distance = try XCTUnwrap(findings.first?["distance"] as? Double)
        XCTAssertEqual(distance, 12, accuracy: 4, "the beacon's true place is 12 m from the packet's")
    }

    func testTheOptionsOfASurveyAndOfAnAuditCannotBeCombined() throws {
        let both = try audit(["--output", temporaryFolder() + "/map.json"])
        XCTAssertEqual(both.status, 2)
        XCTAssertTrue(both.errors.contains("--output can't be combined with --audit"), both.errors)
        let alone = try Tool.run([
            "survey", "--venue", "Fixtures/office", "--json", "Fixtures/office/survey/ground-west.jsonl",
        ])
        XCTAssertEqual(alone.status, 2)
        XCTAssertTrue(alone.errors.contains("--json requires --audit"), alone.errors)
    }

    func testAWalkThroughAnotherVenueIsAnError() throws {
        let result = try Tool.run([
            "survey", "--audit", "--venue", "Fixtures/office", "Fixtures/real/tetam/tracks",
        ])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("are the recordings of another venue?"), result.errors)
    }
}
