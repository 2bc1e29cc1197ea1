import Foundation
import IndoorLocalizationTesting
import LoopbackServers
import XCTest

/// The files that `replay` writes for other programs.
final class WalkOutputTests: XCTestCase {
    private static let recording = "Fixtures/recordings/one-floor/scan.jsonl.gz"

    /// A short recording whose header has a start time.
    private func timedRecording() throws -> String {
        var recording = try ShortRecording(lines: 300)
        let header = try XCTUnwrap(recording.lines.first)
        recording.lines[0] = header.dropLast() + #","startedAt":"2026-05-04T09:30:00.000Z"}"#
        return try recording.write(to: temporaryFolder())
    }

    /// Returns the number of points of a track that gpsbabel reads.
    private func points(_ file: String, _ format: String) throws -> Int {
        let process = Process()
        process.executableURL = try TestPort.program("gpsbabel", ofPackage: "gpsbabel")
        process.arguments = ["-t", "-i", format, "-f", file, "-o", "unicsv", "-F", "-"]
        let output = Pipe()
        process.standardOutput = output
        try ProcessSignals.withAll { try process.run() }
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0)
        return String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).count - 1
    }

    func testEveryFormatHasAllPositions() throws {
        let folder = try temporaryFolder()
        let files = ["gpx", "kml", "csv", "geojson", "nmea"].map { ($0, folder + "/walk." + $0) }
        let result = try Tool.run(
            ["replay", "--venue", "Fixtures/office", try timedRecording()] + files.flatMap { ["--" + $0.0, $0.1] })
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.errors, "")
        let count = result.lines.count { $0.contains(#""type":"position""#) }
        XCTAssertGreaterThan(count, 3)
        XCTAssertEqual(try points(folder + "/walk.gpx", "gpx"), count)
        XCTAssertEqual(try points(folder + "/walk.kml", "kml"), count)
        // gpsbabel counts the sentences of one position as one point.
        XCTAssertEqual(try points(folder + "/walk.nmea", "nmea"), count)
        let csv = try String(contentsOfFile: folder + "/walk.csv", encoding: .utf8)
        XCTAssertEqual(csv.split(separator: "\r\n").count, count + 1)
        XCTAssertTrue(csv.contains("\n2026-05-04T09:30:"), String(csv.prefix(500)))
        for (_, file) in files {
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            XCTAssertEqual(mode, 0o600, "\(file) contains the locations of a person")
        }
    }

    func testSentencesNeedTheStartOfTheRecordingBeforeTheReplay() throws {
        let file = try temporaryFolder() + "/walk.nmea"
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", Self.recording, "--nmea", file])
        XCTAssertEqual(result.status, 1)
        XCTAssertFalse(result.output.contains("position"), "the replay has begun")
        XCTAssertTrue(result.errors.contains(#"add "startedAt" to its header"#), result.errors)
        XCTAssertFalse(FileManager.default.fileExists(atPath: file))
    }

    func testAVenueWithoutGeoreferenceIsReportedBeforeTheReplayForEachFormat() throws {
        for format in ["gpx", "kml", "geojson", "nmea"] {
            let file = try temporaryFolder() + "/walk"
            let result = try Tool.run([
                "replay", "--venue", "Fixtures/packets/accepted/smallest", "Fixtures/office/tracks/ground.jsonl",
                "--" + format, file,
            ])
            XCTAssertEqual(result.status, 1, format)
            XCTAssertEqual(result.output, "", "the replay has begun")
            XCTAssertTrue(result.errors.contains("has no georeference; give a center and bearing"), result.errors)
        }
    }

    /// The office with the georeference of its ground floor removed.
    private func officeWithoutOneGeoreference() throws -> String {
        let folder = try temporaryFolder() + "/office"
        try FileManager.default.copyItem(atPath: try FixtureFolder("office").path, toPath: folder)
        let file = URL(filePath: folder + "/venue.json")
        var venue = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        var maps = try XCTUnwrap(venue["maps"] as? [[String: Any]])
        maps[0]["georeference"] = nil
        venue["maps"] = maps
        try JSONSerialization.data(withJSONObject: venue).write(to: file)
        return folder
    }

    func testPositionsOnAMapWithoutGeoreferenceAreLeftOutWithAWarning() throws {
        let venue = try officeWithoutOneGeoreference()
        let folder = try temporaryFolder()
        let result = try Tool.run([
            "replay", "--venue", venue, Self.recording, "--geojson", folder + "/a.geojson", "--gpx", folder + "/a.gpx",
            "--csv", folder + "/a.csv",
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        let count = result.lines.count { $0.contains(#""type":"position""#) }
        XCTAssertTrue(
            result.errors.contains("\(count) positions left out of the files with coordinates: map 1"), result.errors)
        XCTAssertEqual(try points(folder + "/a.gpx", "gpx"), 0)
        XCTAssertEqual(
            try String(contentsOfFile: folder + "/a.csv", encoding: .utf8).split(separator: "\r\n").count, count + 1)
    }

    func testTheLocalFrameNeedsNoGeoreference() throws {
        let venue = try officeWithoutOneGeoreference()
        let file = try temporaryFolder() + "/walk.geojson"
        let result = try Tool.run([
            "replay", "--venue", venue, Self.recording, "--local-frame", "--geojson", file,
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.errors, "")
        let tree = try XCTUnwrap(
            JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file))) as? [String: Any])
        XCTAssertNotNil(tree["coordinateFrame"])
        let features = try XCTUnwrap(tree["features"] as? [[String: Any]])
        let kinds = features.compactMap { ($0["properties"] as? [String: Any])?["kind"] as? String }
        XCTAssertEqual(
            kinds.count { $0 == "position" }, result.lines.count { $0.contains(#""type":"position""#) })
        let points = features.compactMap { $0["geometry"] as? [String: Any] }
            .compactMap { $0["coordinates"] as? [Double] }
        XCTAssertTrue(points.allSatisfy { (0...36).contains($0[0]) && (0...20).contains($0[1]) }, "\(points)")
        let export = try temporaryFolder() + "/venue.geojson"
        XCTAssertEqual(try Tool.run(["venue", "export", venue, "-o", export]).status, 1)
        XCTAssertEqual(try Tool.run(["venue", "export", venue, "-o", export, "--local-frame"]).status, 0)
    }
}
