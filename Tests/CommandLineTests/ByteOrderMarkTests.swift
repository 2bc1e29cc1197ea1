import Foundation
import IndoorLocalizationTesting
import XCTest

/// Files that an editor has saved with a byte order mark and the line ends of Windows.
final class ByteOrderMarkTests: XCTestCase {
    /// Copies a file with a byte order mark and CRLF line ends.
    private func marked(_ source: String, _ folder: String, as name: String? = nil) throws -> String {
        let source = try Checkout.root().appending(path: source)
        let text = try String(contentsOf: source, encoding: .utf8)
        let path = folder + "/" + (name ?? source.lastPathComponent)
        let file = URL(filePath: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data([0xEF, 0xBB, 0xBF] + text.replacingOccurrences(of: "\n", with: "\r\n").utf8).write(to: file)
        return path
    }

    /// Asserts that a command prints the same for marked files as for their originals.
    private func assertSame(
        _ arguments: [String], _ marked: [String], replacing path: String? = nil, by original: String = "",
        line: UInt = #line
    ) throws {
        let expected = try Tool.run(arguments)
        let result = try Tool.run(marked)
        XCTAssertEqual(expected.status, 0, expected.errors, line: line)
        XCTAssertEqual(result.status, 0, result.errors, line: line)
        let output = path.map { result.output.replacingOccurrences(of: $0, with: original) } ?? result.output
        XCTAssertEqual(output, expected.output, line: line)
        XCTAssertEqual(
            path.map { result.errors.replacingOccurrences(of: $0, with: original) } ?? result.errors, expected.errors,
            line: line)
    }

    func testARecording() throws {
        let folder = try temporaryFolder()
        let plain = try ShortRecording(lines: 100).write(to: folder, as: "plain.jsonl")
        let text = try String(contentsOfFile: plain, encoding: .utf8).replacingOccurrences(of: "\n", with: "\r\n")
        let marked = folder + "/marked.jsonl"
        for mark in ["\u{FEFF}", "\u{FEFF}\r\n"] {
            try Data((mark + text).utf8).write(to: URL(filePath: marked))
            let venue = ["--venue", "Fixtures/office"]
            try assertSame(["replay", plain] + venue, ["replay", marked] + venue)
        }
    }

    func testAPacketWithARadioMap() throws {
        let folder = try temporaryFolder()
        let set = folder + "/set"
        for name in ["plans", "tiles"] {
            try FileManager.default.createDirectory(atPath: set, withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: try FixtureFolder("office").path + "/" + name, toPath: set + "/" + name)
        }
        _ = try marked("Fixtures/office/venue.json", set)
        try assertSame(
            ["venue", "check", "Fixtures/office"], ["venue", "check", set], replacing: set, by: "Fixtures/office")

        let map = folder + "/map.json"
        XCTAssertEqual(
            try Tool.run([
                "survey", "--venue", "Fixtures/office", "--output", map, "Fixtures/office/tracks/ground.jsonl",
            ]).status, 0)
        let text = try String(contentsOfFile: map, encoding: .utf8)
        let marked = folder + "/marked.json"
        try Data(("\u{FEFF}" + text.replacingOccurrences(of: "\n", with: "\r\n")).utf8).write(to: URL(filePath: marked))
        let walk = try ShortRecording(lines: 100).write(to: folder)
        let replay = ["replay", "--venue", "Fixtures/office", walk, "--radio-map"]
        try assertSame(replay + [map], replay + [marked])
    }

    func testSettings() throws {
        let settings = try marked("Fixtures/settings/service.json", temporaryFolder())
        try assertSame(
            ["config", "show", "--settings", "Fixtures/settings/service.json"],
            ["config", "show", "--settings", settings],
            replacing: settings, by: "Fixtures/settings/service.json")
    }

    func testGeofences() throws {
        let folder = try temporaryFolder()
        let fences = try marked("Fixtures/geofences/office.geojson", folder)
        let walk = try ShortRecording(lines: 100).write(to: folder)
        let replay = ["replay", "--venue", "Fixtures/office", walk, "--geofences"]
        try assertSame(
            replay + ["Fixtures/geofences/office.geojson"], replay + [fences], replacing: fences,
            by: "Fixtures/geofences/office.geojson")
    }

    func testTheDocumentOfAWalk() throws {
        let folder = try temporaryFolder()
        let name = try XCTUnwrap(
            FileManager.default.contentsOfDirectory(atPath: FixtureFolder("office/paths").path).sorted().first)
        let walk = try marked("Fixtures/office/paths/" + name, folder)
        let outputs = [folder + "/plain.jsonl", folder + "/marked.jsonl"]
        for (path, output) in zip(["Fixtures/office/paths/" + name, walk], outputs) {
            let result = try Tool.run([
                "simulate", "--venue", "Fixtures/office", "--path", path, "--seed", "1", "--output", output,
            ])
            XCTAssertEqual(result.status, 0, result.errors)
        }
        XCTAssertEqual(try bytes(outputs[0]), try bytes(outputs[1]))
    }

    func testAMapOfOpenStreetMapAndAnIMDFArchive() throws {
        let folder = try temporaryFolder()
        let map = try marked("Fixtures/osm/library.osm", folder, as: "marked/library.osm")
        let museum = folder + "/museum"
        for name in try FileManager.default.contentsOfDirectory(atPath: FixtureFolder("imdf/museum").path) {
            _ = try marked("Fixtures/imdf/museum/" + name, museum)
        }
        let outputs = [folder + "/plain", folder + "/out"]
        for (plain, changed) in [("Fixtures/osm/library.osm", map), ("Fixtures/imdf/museum", museum)] {
            try assertSame(
                ["venue", "import", plain, "-o", outputs[0], "--overwrite"],
                ["venue", "import", changed, "-o", outputs[1], "--overwrite"], replacing: outputs[1], by: outputs[0])
            XCTAssertEqual(try bytes(outputs[0] + "/venue.json"), try bytes(outputs[1] + "/venue.json"))
        }
    }

    func testTrainingOfRooms() throws {
        let folder = try temporaryFolder()
        let recording = try ShortRecording(lines: 100).write(to: folder)
        let rooms = folder + "/rooms.json"
        let trained = try Tool.run(["rooms", "train", "-o", rooms, "--room", "kitchen", recording])
        XCTAssertEqual(trained.status, 0, trained.errors)
        let text = try String(contentsOfFile: rooms, encoding: .utf8).replacingOccurrences(of: "\n", with: "\r\n")
        let marked = folder + "/marked.json"
        try Data(("\u{FEFF}" + text).utf8).write(to: URL(filePath: marked))
        let classify = ["rooms", "classify", "--scans", recording, "--training"]
        try assertSame(classify + [rooms], classify + [marked])
    }
}
