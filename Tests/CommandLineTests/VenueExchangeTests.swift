import Foundation
import IndoorLocalizationTesting
import VenuePackets
import XCTest

/// The commands that bring venues in from other formats and out to them.
final class VenueExchangeTests: XCTestCase {
    /// The path of a file in a folder of its own that goes away with the test.
    private func temporary(_ name: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "exchange-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
        return folder.appending(path: name).path
    }

    private func features(_ path: String) throws -> [[String: Any]] {
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path)))
        return try XCTUnwrap((object as? [String: Any])?["features"] as? [[String: Any]])
    }

    private func kinds(_ features: [[String: Any]]) -> Set<String> {
        Set(features.compactMap { ($0["properties"] as? [String: Any])?["kind"] as? String })
    }

    func testReportOfAnImport() throws {
        let packet = try temporary("museum")
        let result = try Tool.run(["venue", "import", "-o", packet, "Fixtures/imdf/museum"])
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(result.errors, "")
        try assertSnapshot(result.output.replacing(packet, with: "PACKET"))
        XCTAssertEqual(try Tool.run(["venue", "check", packet]).output, "\(packet): no problems\n")
    }

    func testAnImportTakesNumberEditionAndLanguage() throws {
        let packet = try temporary("museum.zip")
        let report = try temporary("report.json")
        let result = try Tool.run([
            "venue", "import", "Fixtures/imdf/museum", "--output", packet, "--id", "42", "--edition", "3", "--language",
            "it", "--report", report,
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        let venue = try VenuePacketReader().read(packet).venue
        XCTAssertEqual(venue.id, 42)
        XCTAssertEqual(venue.version, 3)
        XCTAssertEqual(venue.name, "Museo degli Esempi")
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: report)))
        XCTAssertFalse(try XCTUnwrap((object as? [String: Any])?["remarks"] as? [Any]).isEmpty)
    }

    func testAnArchiveThatIsNoneIsRefusedWithItsProblems() throws {
        let packet = try temporary("museum")
        let result = try Tool.run(["venue", "import", "-o", packet, "Fixtures/office"])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("is not a usable IMDF archive"), result.errors)
        XCTAssertTrue(result.errors.contains("manifest.json: $: is missing"), result.errors)
        XCTAssertTrue(result.errors.contains("level.geojson: $: is missing"), result.errors)
        XCTAssertFalse(FileManager.default.fileExists(atPath: packet))
    }

    func testAnImportNeedsAnOutput() throws {
        let result = try Tool.run(["venue", "import", "Fixtures/imdf/museum"])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("--output is missing"), result.errors)
    }

    func testAnExportHoldsTheVenue() throws {
        let file = try temporary("office.geojson")
        let result = try Tool.run(["venue", "export", "Fixtures/office", "-o", file])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.output, "")
        let features = try features(file)
        XCTAssertTrue(
            kinds(features).isSuperset(of: ["plan", "wall", "room", "beacon", "poi", "fence", "path"]),
            "\(kinds(features))")
    }

    func testAPacketWithoutGeoreferenceCannotBeExported() throws {
        let file = try temporary("kiosk.geojson")
        let result = try Tool.run(["venue", "export", "Fixtures/packets/accepted/smallest", "-o", file])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("has no georeference"), result.errors)
        XCTAssertFalse(FileManager.default.fileExists(atPath: file))
    }

    func testAFileThatCannotBeWrittenIsTold() throws {
        let result = try Tool.run(["venue", "export", "Fixtures/office", "-o", "/nonexistent/a.geojson"])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("/nonexistent/a.geojson cannot be written: No such file"), result.errors)
    }

    func testAReplayWritesItsTrackAndTheTruth() throws {
        let file = try temporary("track.geojson")
        let recording = "Fixtures/recordings/one-floor/scan.jsonl.gz"
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", recording, "--geojson", file])
        XCTAssertEqual(result.status, 0, result.errors)
        let features = try features(file)
        XCTAssertEqual(kinds(features), ["position", "track", "truth", "truthTrack"])
        let positions = result.lines.count { $0.contains("\"type\":\"position\"") }
        let points = features.count { ($0["properties"] as? [String: Any])?["kind"] as? String == "position" }
        XCTAssertEqual(points, positions)
        XCTAssertGreaterThan(points, 10)
    }
}
