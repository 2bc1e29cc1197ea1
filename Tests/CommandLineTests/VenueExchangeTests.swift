import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

/// The import and export of venues.
final class VenueExchangeTests: XCTestCase {
    /// The path of a file in a temporary folder.
    private func temporary(_ name: String) throws -> String { try temporaryFolder() + "/" + name }

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
        let check = try Tool.run(["venue", "check", packet])
        XCTAssertEqual(check.status, 0)
        XCTAssertEqual(
            check.output,
            "warning: $.beacons: there is none, and no radio map: no position can be estimated from beacons; add "
                + "them, or survey the venue\nwarning: $.rooms[7]: no path reaches Office: a wall is in between; "
                + "add one through the door, or open the wall there\n\(packet): 0 errors, 2 warnings\n")
    }

    func testAnImportUsesNumberEditionAndLanguage() throws {
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

    // MARK: OpenStreetMap

    func testReportOfAnImportFromOpenStreetMap() throws {
        let packet = try temporary("library")
        let result = try Tool.run(["venue", "import", "-o", packet, "Fixtures/osm/library.osm"])
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(result.errors, "")
        try assertSnapshot(result.output.replacing(packet, with: "PACKET"))
        let check = try Tool.run(["venue", "check", packet])
        XCTAssertEqual(check.status, 0)
        XCTAssertTrue(check.output.contains(": 0 errors, "), check.output)
        let upper = try VenuePacketReader().read(packet).venue.maps[1].id
        let route = try Tool.run([
            "venue", "route", packet, "--from", "\(upper),8,8", "--to-poi", "What is where",
        ])
        XCTAssertEqual(route.status, 0, route.errors)
        XCTAssertTrue(route.output.contains("stairs"), route.output)
    }

    func testAFileOfOpenStreetMapIsReadFromStandardInput() throws {
        let packet = try temporary("library")
        let result = try Tool.run(
            [
                "-c", "cat Fixtures/osm/library.osm | \"$0\" venue import -o \(packet) -", try Tool.path(),
            ], program: "/bin/sh")
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(try VenuePacketReader().read(packet).venue.beacons.count, 5)
    }

    func testTheTagsOfAFileThatAreWrongAreErrorsWithTheirLine() throws {
        let file = try temporary("wrong.osm")
        let text = try String(contentsOf: Checkout.root().appending(path: "Fixtures/osm/library.osm"), encoding: .utf8)
        let wrong = text.replacing("<tag k=\"level\" v=\"0-1\"/>", with: "<tag k=\"level\" v=\"0/1\"/>")
        XCTAssertNotEqual(text, wrong)
        try Data(wrong.utf8).write(to: URL(filePath: file))
        let lenient = try Tool.run(["venue", "import", "-o", try temporary("lenient"), file])
        XCTAssertEqual(lenient.status, 0, lenient.errors)
        XCTAssertTrue(lenient.output.contains("left out: 1 way: its level is \"0/1\"; give levels"), lenient.output)
        XCTAssertTrue(lenient.output.contains("(way/7)"), lenient.output)
        let result = try Tool.run(["venue", "import", "--strict", "-o", try temporary("library"), file])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("wrong.osm is not a usable OpenStreetMap file:"), result.errors)
        let line = text.split(separator: "\n").firstIndex(of: "  <way id=\"7\" version=\"1\">").map { $0 + 1 }
        XCTAssertTrue(
            result.errors.contains("  line \(line ?? 0): way/7: its level is \"0/1\"; give levels"), result.errors)
    }

    // MARK: ESPresense-companion

    func testReportOfAnImportFromESPresenseCompanion() throws {
        let (packet, tags) = (try temporary("house"), try temporary("tags.csv"))
        let words = ["venue", "import", "--tags", tags, "-o", packet, "Fixtures/espresense/house.yaml"]
        let result = try Tool.run(words)
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(result.errors, "")
        try assertSnapshot(result.output.replacing(packet, with: "PACKET").replacing(tags, with: "TAGS"))
        XCTAssertEqual(
            try String(contentsOfFile: tags, encoding: .utf8),
            """
            key,name,aliases
            iBeacon:5f2a0c9e-1b3d-4e6f-8a90-112233445566-1-7,Keys,
            phone:anna,Anna's phone,
            a4c1381f00aa,,
            Cat Collar,Cat Collar,cat_collar

            """)
        let check = try Tool.run(["venue", "check", packet])
        XCTAssertEqual(check.output, "\(packet): no problems\n")
        let again = try Tool.run(words)
        XCTAssertEqual(again.status, 1)
        XCTAssertEqual(try Tool.run(words + ["--keep", packet, "--overwrite"]).status, 0)
        XCTAssertEqual(try VenuePacketReader().read(packet).venue.receivers.count, 6)
        // Walls that a person has drawn stay in the next edition.
        var venue = try VenuePacketReader().read(packet).venue
        venue.maps[0].walls = [[MapPoint(x: 5, y: 0), MapPoint(x: 5, y: 3)]]
        try VenuePacketWriter().write(venue, toFolder: packet)
        let kept = try Tool.run(words + ["--keep", packet, "--overwrite"])
        XCTAssertTrue(kept.output.contains("kept from \(packet): 1 wall\n"), kept.output)
        XCTAssertEqual(try VenuePacketReader().read(packet).venue.maps[0].walls, venue.maps[0].walls)
        let other = try Tool.run(["venue", "import", "--tags", "t.csv", "-o", "x", "Fixtures/osm/library.osm"])
        XCTAssertTrue(other.errors.contains("--tags t.csv: only the config.yaml"), other.errors)
    }

    func testANameWithALineBreakIsOneLineOfTheRegister() throws {
        let (packet, tags, house) = (try temporary("house"), try temporary("tags.csv"), try temporary("house.yaml"))
        let devices = """
            floors:
              - {id: ground, bounds: [[0, 0, 0], [9, 9, 3]]}
            nodes:
              - {name: hall, point: [1, 1, 1], floors: [ground]}
            devices:
              - {id: "phone:anna", name: "a\\nphone:eve,Eve"}

            """
        try devices.write(toFile: house, atomically: true, encoding: .utf8)
        let result = try Tool.run(["venue", "import", "--tags", tags, "-o", packet, house])
        XCTAssertEqual(result.status, 0, result.errors)
        let lines = try String(contentsOfFile: tags, encoding: .utf8).split(separator: "\n")
        XCTAssertEqual(lines.count, 2, "\(lines)")
        XCTAssertTrue(lines.last?.hasPrefix("phone:anna,\"a") ?? false, "\(lines)")
    }

    func testEachProblemOfAConfigurationHasALine() throws {
        let house = try temporary("house.yaml")
        try "floors: [\n".write(toFile: house, atomically: true, encoding: .utf8)
        let result = try Tool.run(["venue", "import", "-o", try temporary("house"), house])
        XCTAssertEqual(result.status, 1)
        let lines = result.errors.split(separator: "\n")
        XCTAssertEqual(lines.count, 2, result.errors)
        XCTAssertTrue(lines.last?.hasPrefix("  line 2, column 1: it is not valid YAML") ?? false, result.errors)
    }

    /// Without a floor, there is no venue.
    func testAConfigurationWithoutAUsableFloorIsRefusedWithTheReason() throws {
        let house = try temporary("house.yaml")
        for text in ["floors:\n  - id: a\n", "floors: []\n", "nodes: []\n"] {
            try text.write(toFile: house, atomically: true, encoding: .utf8)
            let result = try Tool.run(["venue", "import", "-o", try temporary("house"), house])
            XCTAssertEqual(result.status, 1)
            XCTAssertGreaterThan(result.errors.split(separator: "\n").count, 1, "\(text): \(result.errors)")
        }
        try "floors:\n  - id: a\n".write(toFile: house, atomically: true, encoding: .utf8)
        let result = try Tool.run(["venue", "import", "-o", try temporary("house"), house])
        XCTAssertTrue(result.errors.contains("\n  line 2, column 5: no floor has bounds or rooms"), result.errors)
    }

    func testAConfigurationIsReadFromStandardInputAndStrictlyRefused() throws {
        let packet = try temporary("house")
        let command = "sed 's/11.5, 4, 0.4/11.5; 4/' Fixtures/espresense/house.yaml | \"$0\" venue import -o \(packet)"
        let lenient = try Tool.run(["-c", "\(command) -", try Tool.path()], program: "/bin/sh")
        XCTAssertEqual(lenient.status, 0, lenient.errors)
        XCTAssertEqual(try VenuePacketReader().read(packet).venue.receivers.count, 5)
        let strict = try Tool.run(["-c", "\(command) --overwrite --strict -", try Tool.path()], program: "/bin/sh")
        XCTAssertEqual(strict.status, 1)
        XCTAssertTrue(
            strict.errors.contains("line 55, column 12: node living: its point is [11.5; 4]; give metres"),
            strict.errors)
    }

    // MARK: The next edition

    /// A packet of the museum with a beacon that was entered by hand.
    private func furnishedMuseum(_ name: String = "museum") throws -> String {
        let packet = try temporary(name)
        XCTAssertEqual(try Tool.run(["venue", "import", "-o", packet, "Fixtures/imdf/museum"]).status, 0)
        var venue = try VenuePacketReader().read(packet).venue
        let beacon = try XCTUnwrap(
            VenuePacketReader().read(Checkout.root().path + "/Fixtures/office").venue.beacons.first)
        venue.beacons = [beacon]
        venue.beacons[0].mapID = venue.maps[0].id
        try VenuePacketWriter().write(venue, toFolder: packet)
        return packet
    }

    func testAnImportDoesNotReplaceAPacketUnasked() throws {
        let packet = try furnishedMuseum()
        let old = try VenuePacketReader().read(packet).venue
        let refused = try Tool.run(["venue", "import", "-o", packet, "Fixtures/imdf/museum"])
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.errors.contains("already exists: use --keep"), refused.errors)
        XCTAssertEqual(try VenuePacketReader().read(packet).venue, old)
        XCTAssertEqual(
            try Tool.run(["venue", "import", "--overwrite", "-o", packet, "Fixtures/imdf/museum"]).status, 0)
        XCTAssertEqual(try VenuePacketReader().read(packet).venue.beacons, [])
    }

    func testTheNextEditionKeepsTheBeacons() throws {
        let packet = try furnishedMuseum()
        let old = try VenuePacketReader().read(packet).venue
        let result = try Tool.run([
            "venue", "import", "--keep", packet, "-o", packet, "--edition", "7", "Fixtures/imdf/museum",
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.output.contains("kept from \(packet): 1 beacon\n"), result.output)
        let venue = try VenuePacketReader().read(packet).venue
        XCTAssertEqual(venue.version, 7)
        XCTAssertEqual(venue.beacons, old.beacons)
        let zip = try temporary("museum.zip")
        XCTAssertEqual(
            try Tool.run(["venue", "import", "--keep", packet, "-o", zip, "Fixtures/imdf/museum"]).status, 0)
        let next = try VenuePacketReader().read(zip).venue
        XCTAssertEqual(next.version, 8)
        XCTAssertEqual(next.beacons, old.beacons)
    }

    func testAKeptPacketIsNotReplacedByASmallerOne() throws {
        let packet = try furnishedMuseum()
        var venue = try VenuePacketReader().read(packet).venue
        venue.rooms.append(venue.rooms[0])
        venue.rooms[venue.rooms.count - 1].id = 5
        venue.rooms[venue.rooms.count - 1].name = "Own"
        try VenuePacketWriter().write(venue, toFolder: packet)
        let words = ["venue", "import", "--keep", packet, "-o", packet, "Fixtures/imdf/museum"]
        let refused = try Tool.run(words)
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.errors.contains("would lose room 5 (Own)"), refused.errors)
        XCTAssertEqual(try VenuePacketReader().read(packet).venue, venue)
        let done = try Tool.run(words + ["--overwrite"])
        XCTAssertEqual(done.status, 0, done.errors)
        XCTAssertTrue(done.output.contains("not kept: room 5 (Own)"), done.output)
        XCTAssertEqual(try VenuePacketReader().read(packet).venue.beacons, venue.beacons)
    }

    func testAPlanImageIsCopiedToAnotherPacket() throws {
        let packet = try furnishedMuseum()
        var venue = try VenuePacketReader().read(packet).venue
        venue.maps[0].imagePath = "plans/a.png"
        (venue.maps[0].widthPixels, venue.maps[0].heightPixels) = (10, 10)
        let image = URL(filePath: packet + "/plans/a.png")
        try FileManager.default.createDirectory(
            at: image.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data([1, 2, 3]).write(to: image)
        try VenuePacketWriter().write(venue, toFolder: packet)
        let zip = try temporary("museum.zip")
        let folder = try temporary("next")
        for (from, to) in [(packet, zip), (zip, folder), (folder, folder)] {
            let result = try Tool.run(["venue", "import", "--keep", from, "-o", to, "Fixtures/imdf/museum"])
            XCTAssertEqual(result.status, 0, result.errors)
            XCTAssertTrue(result.output.contains("1 plan image"), result.output)
        }
        XCTAssertEqual(try Data(contentsOf: URL(filePath: folder + "/plans/a.png")), Data([1, 2, 3]))
    }

    func testAnOutputOfTheWrongKindIsReported() throws {
        let file = try temporary("README.md")
        try Data("text".utf8).write(to: URL(filePath: file))
        let result = try Tool.run(["venue", "import", "-o", file, "Fixtures/imdf/museum"])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(
            result.errors,
            "indoorloc: the output \(file) is a file; give a folder, or a name that ends in .zip\n")
        XCTAssertEqual(try String(contentsOf: URL(filePath: file), encoding: .utf8), "text")
    }

    func testAnInvalidArchiveIsRefusedWithItsProblems() throws {
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

    func testAnUnwritableFileIsReported() throws {
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
    func testATrackHasAGapForTheTimeOutdoors() throws {
        let file = try temporary("track.geojson")
        let recording = "Fixtures/recordings/outdoors/scan.jsonl.gz"
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", recording, "--geojson", file])
        XCTAssertEqual(result.status, 0, result.errors)
        let features = try features(file)
        let outside = features.count { ($0["properties"] as? [String: Any])?["kind"] as? String == "outdoorPosition" }
        XCTAssertEqual(outside, result.lines.count { $0.contains("\"type\":\"outdoorPosition\"") })
        XCTAssertGreaterThan(outside, 100)
        let tracks = features.compactMap { $0["properties"] as? [String: Any] }
            .filter { $0["kind"] as? String == "track" }
        XCTAssertGreaterThan(tracks.count, 1)
        for track in tracks {
            let (from, to) = (try XCTUnwrap(track["from"] as? Double), try XCTUnwrap(track["to"] as? Double))
            // The walker is outside from second 12 to 222.
            XCTAssertFalse(from < 60 && to > 200, "\(from) to \(to)")
        }
    }

    func testAVenueWithoutGeoreferenceIsReportedBeforeTheReplay() throws {
        let file = try temporary("track.geojson")
        let result = try Tool.run([
            "replay", "--venue", "Fixtures/packets/accepted/smallest", "Fixtures/office/tracks/ground.jsonl",
            "--geojson", file,
        ])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(result.output, "", "the replay has begun")
        XCTAssertTrue(result.errors.contains("has no georeference"), result.errors)
    }

    func testATrackOfAnotherVenueIsReported() throws {
        let packet = try temporary("museum")
        XCTAssertEqual(try Tool.run(["venue", "import", "-o", packet, "Fixtures/imdf/museum"]).status, 0)
        let file = try temporary("track.geojson")
        let recording = "Fixtures/recordings/one-floor/scan.jsonl.gz"
        let result = try Tool.run(["replay", "--venue", packet, recording, "--geojson", file])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("the ground truth of the recording is on map 1, which"), result.errors)
        XCTAssertTrue(result.errors.contains("the venue of the recording"), result.errors)
        XCTAssertFalse(FileManager.default.fileExists(atPath: file))
    }
}
