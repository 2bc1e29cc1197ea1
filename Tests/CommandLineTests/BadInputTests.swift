import Foundation
import IndoorLocalizationTesting
import XCTest

/// Missing or invalid files cause status 1 and a message with the file, the line and the field.
final class BadInputTests: XCTestCase {
    func testEveryCommandNamesAMissingFile() throws {
        let missing = try temporaryFolder() + "/missing"
        for arguments in [
            ["replay", "--venue", "Fixtures/office", missing],
            ["replay", "--venue", missing, "Fixtures/office/tracks/ground.jsonl"],
            ["replay", "--venue", "Fixtures/office", "--radio-map", missing, "Fixtures/office/tracks/ground.jsonl"],
            ["evaluate", missing],
            ["survey", "--venue", "Fixtures/office", "--output", missing + ".json", missing],
            ["simulate", "--venue", "Fixtures/office", "--path", missing, "--output", missing + ".jsonl"],
            ["venue", "info", missing],
        ] {
            let result = try Tool.run(arguments)
            XCTAssertEqual(result.status, 1, "\(arguments)")
            XCTAssertEqual(result.output, "", "\(arguments)")
            XCTAssertTrue(result.errors.hasPrefix("indoorloc: "), result.errors)
            XCTAssertTrue(result.errors.contains(missing), result.errors)
            XCTAssertFalse(result.errors.contains("NSCocoaErrorDomain"), result.errors)
        }
    }

    func testReplayReportsARecordingWithoutABeaconOfTheVenue() throws {
        let folder = try temporaryFolder()
        var recording = try ShortRecording(lines: 60)
        recording.lines.removeAll { $0.contains("\"beacon\"") }
        let path = try recording.write(to: folder)
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", path])
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(
            result.errors,
            "indoorloc: \(path): no position, as no beacon of 'Office' was received; "
                + "use --fix MAP,X,Y,RADIUS to follow it by motion alone\n")
    }

    func testReplayReportsAVenueWithoutBeacons() throws {
        let folder = try temporaryFolder()
        try Self.writeKiosk(to: folder)
        var recording = try ShortRecording(lines: 60)
        recording.lines.removeAll { !$0.contains("\"beacon\"") && !$0.contains("\"header\"") }
        let path = try recording.write(to: folder)
        let result = try Tool.run(["replay", "--venue", folder, path])
        XCTAssertEqual(
            result.errors,
            "indoorloc: \(path): no position, as 'Kiosk' has neither beacons nor a radio map; add beacons to the packet, or make a survey\n"
        )
        XCTAssertTrue(
            try Tool.run(["venue", "info", folder]).output.contains(
                "map 77: Ground, level 0, 20.0 x 10.0 m, 0 beacons, 0 rooms"))
    }

    /// The recordings' maps have the same numbers as the venue's.
    func testSurveyWarnsOfRecordingsWithoutABeaconOfTheVenue() throws {
        let folder = try temporaryFolder()
        let venue = """
            {"format": "indoor-localization-venue", "formatVersion": 1, "id": 7, "name": "Kiosk", "version": 1,
            "maps": [{"id": 1, "name": "Ground", "level": 0, "widthMeters": 36, "heightMeters": 20}],
            "rooms": [{"id": 1, "name": "Room", "mapId": 1, "polygon": [[0, 0], [1, 0], [1, 1]]}],
            "beacons": [{"uuid": "00000000-0000-4000-8000-000000000001", "major": 1, "minor": 1, "mapId": 1, "x": 1,
            "y": 1}]}
            """
        try Data(venue.utf8).write(to: URL(filePath: folder + "/venue.json"))
        let info = try Tool.run(["venue", "info", folder])
        XCTAssertTrue(info.output.contains("1 beacon, 1 room, 0 fences, 0 POIs, 0 walls"), info.output)
        let (map, walk) = (folder + "/map.json", "Fixtures/office/survey/ground-west.jsonl")
        let survey = try Tool.run(["survey", "--venue", folder, "-o", map, walk])
        XCTAssertEqual(survey.status, 0)
        XCTAssertEqual(
            survey.errors,
            "indoorloc: no beacon of 'Kiosk' was received; are the recordings of another venue?\n")
        let short = try ShortRecording(lines: 60).write(to: folder)
        let replay = try Tool.run(["replay", "--venue", folder, "--radio-map", map, short])
        XCTAssertTrue(replay.errors.contains("none of the venue's beacons; is it for another venue?"), replay.errors)
    }

    /// A long survey must not end with an output that can't be written.
    func testCommandsReportAnUnwritableOutputBeforeTheWork() throws {
        let folder = try temporaryFolder()
        for (path, reason) in [(folder + "/none/out.json", "No such file or directory"), (folder, "Is a directory")] {
            for arguments in [
                ["survey", "--venue", "Fixtures/office", "--output", path, folder + "/missing.jsonl"],
                ["replay", "--venue", "Fixtures/office", "--geojson", path, "Fixtures/office/tracks/ground.jsonl"],
            ] {
                let result = try Tool.run(arguments)
                XCTAssertEqual(result.status, 1, "\(arguments)")
                XCTAssertEqual(result.output, "", "\(arguments)")
                XCTAssertEqual(result.errors, "indoorloc: \(path) cannot be written: \(reason)\n")
            }
        }
    }

    func testAnEmptyPathIsNotStandardInput() throws {
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", ""])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("the path is empty"), result.errors)
    }

    func testReplayReportsWhyBeaconsOfTheVenueAreIgnored() throws {
        let path = try ShortRecording(lines: 100).write(to: temporaryFolder())
        let call = ["replay", "--venue", "Fixtures/office", path, "--set"]
        let weak = try Tool.run(call + ["rssiThreshold=-20"])
        XCTAssertEqual(weak.status, 0)
        let sentence =
            #/indoorloc: .+: no position, as all received beacons of 'Office' are below the rssiThreshold of -20 dBm; the strongest is -\d+ dBm; lower rssiThreshold, or move closer to a beacon\n/#
        XCTAssertNotNil(try sentence.wholeMatch(in: weak.errors), weak.errors)
        let forced = try Tool.run(call + ["forcedVenue=2"])
        XCTAssertEqual(forced.status, 0)
        XCTAssertEqual(
            forced.errors,
            "indoorloc: \(path): no position, as venue 2 of the setting forcedVenue is not among the known venues; "
                + "add the packet of the venue, or change the setting\n")
    }

    func testAVenueWithAnInvalidSettingStillGivesPositions() throws {
        let folder = try temporaryFolder()
        let office = try String(contentsOf: URL(filePath: FixtureFolder("office").file("venue.json")), encoding: .utf8)
        var object = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(office.utf8)) as? [String: Any])
        object["radioMap"] = nil
        var maps = try XCTUnwrap(object["maps"] as? [[String: Any]])
        for index in maps.indices { ["image", "tiles"].forEach { maps[index][$0] = nil } }
        object["maps"] = maps
        object["settings"] = ["rssiThreshold": 5, "positionInterval": 0.25]
        let venue = folder + "/venue.json"
        try JSONSerialization.data(withJSONObject: object).write(to: URL(filePath: venue))
        let problem = "rssiThreshold must be in [-127, 0] dBm, not 5"
        let recording = try ShortRecording(lines: 100).write(to: folder)
        let replay = try Tool.run(["replay", "--venue", venue, recording])
        XCTAssertEqual(replay.status, 0)
        XCTAssertEqual(
            replay.errors, "indoorloc: \(venue): warning: $.settings.rssiThreshold: has no effect; \(problem)\n")
        XCTAssertTrue(replay.output.contains("$.settings.rssiThreshold: \(problem)"), replay.output)
        XCTAssertTrue(replay.output.contains(#""type":"position""#), replay.output)
        for command in ["info", "check"] {
            let result = try Tool.run(["venue", command, venue])
            XCTAssertEqual(result.status, 0, command)
            XCTAssertTrue(result.output.contains("warning: $.settings.rssiThreshold"), result.output)
        }
        let show = try Tool.run(["config", "show", "--given", "--venue", venue])
        XCTAssertEqual(show.status, 0)
        XCTAssertEqual(show.errors, "indoorloc: \(venue): $.settings.rssiThreshold: \(problem)\n")
        XCTAssertTrue(show.output.contains("$.settings.positionInterval"), show.output)
    }

    func testLinesOfUnknownTypesAreCounted() throws {
        var recording = try ShortRecording(lines: 60)
        for smell in ["tar", "tea"] { recording.lines.insert(#"{"t":0,"type":"smell","of":"\#(smell)"}"#, at: 1) }
        let path = try recording.write(to: temporaryFolder())
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", path])
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(result.errors, "indoorloc: \(path): 2 lines of unknown types ignored\n")
    }

    func testSurveyReportsRecordingsOfAnotherVenue() throws {
        let folder = try temporaryFolder()
        try Self.writeKiosk(to: folder)
        let result = try Tool.run(
            ["survey", "--venue", folder, "-o", folder + "/map.json", "Fixtures/office/survey/ground-west.jsonl"])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(
            result.errors,
            "indoorloc: the recordings are of another venue: their ground truth is on maps 1, but 'Kiosk' has maps 77\n"
        )
    }

    func testAFileOfAnotherProgramIsNamedWithTheCommandThatConvertsIt() throws {
        let folder = try temporaryFolder()
        let venue = ["--venue", "Fixtures/office"]
        let walk = "Fixtures/foreign/walk.csv"
        for call in [
            ["replay"] + venue, ["survey", "-o", folder + "/map.json"] + venue, ["plot", "track"] + venue,
            ["rooms", "train", "-o", folder + "/rooms.json", "--room", "hall"],
        ] {
            let result = try Tool.run(call + [walk])
            XCTAssertEqual(result.status, 1, "\(call)")
            XCTAssertEqual(
                result.errors,
                "indoorloc: \(walk) is a file of another program (csv); convert it first: indoorloc convert \(walk) "
                    + "walk.jsonl\n", "\(call)")
        }
        for (name, words) in [
            (
                "bleak.jsonl",
                "(bleak); convert it first: indoorloc convert Fixtures/foreign/bleak.jsonl bleak-converted.jsonl"
            ),
            ("nordic.pcapng", "(pcap)"), ("walk.kismet", "(kismetdb)"), ("kismet.jsonl.gz", "(kismet)"),
        ] {
            let result = try Tool.run(["replay"] + venue + ["Fixtures/foreign/" + name])
            XCTAssertEqual(result.status, 1, name)
            XCTAssertTrue(result.errors.contains(words), result.errors)
        }
        let blank = "\(folder)/my walk.csv"
        try FileManager.default.copyItem(atPath: walk, toPath: blank)
        let quoted = try Tool.run(["replay"] + venue + [blank])
        XCTAssertTrue(quoted.errors.hasSuffix("indoorloc convert '\(blank)' 'my walk.jsonl'\n"), quoted.errors)
        // Another error of a recording, and text of no known format, are described as before.
        let notes = folder + "/notes.txt"
        try Data("some notes\nof mine\n".utf8).write(to: URL(filePath: notes))
        let result = try Tool.run(["replay"] + venue + [notes])
        XCTAssertTrue(result.errors.contains("\(notes):1: is not a JSON object"), result.errors)
    }

    func testEvaluateReportsADataSetWithoutTracks() throws {
        let path = try FixtureFolder("packets/accepted/smallest").path
        let result = try Tool.run(["evaluate", path])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("\(path)/tracks has no recording"), result.errors)
    }

    func testSurveyReportsRecordingsWithoutGroundTruth() throws {
        let folder = try temporaryFolder()
        var recording = try ShortRecording(lines: 60)
        recording.lines.removeAll { $0.contains("\"truth\"") }
        let path = try recording.write(to: folder)
        let map = folder + "/map.json"
        let result = try Tool.run(["survey", "--venue", "Fixtures/office", "--output", map, path])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("their ground truth requires mapId, x, y"), result.errors)
        XCTAssertFalse(FileManager.default.fileExists(atPath: map))
    }

    // MARK: - Invalid lines

    /// A recording with an invalid line 101, and the same without that line.
    private func badAndGood(in folder: String) throws -> (bad: String, good: String) {
        let good = try ShortRecording(lines: 160)
        var bad = good
        bad.lines.insert(#"{"t":0,"type":"beacon","major":1,"minor":1,"rssi":"loud"}"#, at: 100)
        return (try bad.write(to: folder, as: "bad.jsonl"), try good.write(to: folder, as: "good.jsonl"))
    }

    func testAnInvalidLineEndsTheReplayWithFileLineAndField() throws {
        let (bad, _) = try badAndGood(in: temporaryFolder())
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", bad])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.hasPrefix("indoorloc: \(bad):101: field `"), result.errors)
        XCTAssertTrue(result.errors.contains("or use --lenient to skip such lines"), result.errors)
    }

    func testReplayPrintsTheOutputsBeforeAnInvalidLine() throws {
        let (bad, good) = try badAndGood(in: temporaryFolder())
        let before = try Tool.run(["replay", "--venue", "Fixtures/office", bad]).output
        let whole = try Tool.run(["replay", "--venue", "Fixtures/office", good]).output
        XCTAssertTrue(before.contains(#""type":"position""#), before)
        XCTAssertTrue(whole.hasPrefix(before))
    }

    func testALenientReplayCountsAnInvalidLineAndPrintsTheRest() throws {
        let (bad, good) = try badAndGood(in: temporaryFolder())
        let lenient = try Tool.run(["replay", "--venue", "Fixtures/office", "--lenient", bad])
        XCTAssertEqual(lenient.status, 0)
        XCTAssertTrue(
            lenient.errors.hasPrefix("indoorloc: \(bad): 1 invalid line skipped: \(bad):101: field `"), lenient.errors)
        // A lenient replay doesn't suggest --lenient.
        XCTAssertFalse(lenient.errors.contains("lenient"), lenient.errors)
        XCTAssertEqual(lenient.output, try Tool.run(["replay", "--venue", "Fixtures/office", good]).output)
    }

    func testReplayCountsSightingsWithoutAMeasuredRSSI() throws {
        var recording = try ShortRecording(lines: 60)
        let beacon = try XCTUnwrap(recording.lines.firstIndex { $0.contains("\"beacon\"") })
        let silent = recording.lines[beacon].replacing(/"rssi":-[0-9]+/, with: "\"rssi\":127")
        recording.lines.insert(silent, at: beacon)
        let path = try recording.write(to: temporaryFolder())
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", path])
        XCTAssertEqual(result.status, 0)
        XCTAssertTrue(result.errors.contains("1 sighting dropped: the RSSI is not a measurement"), result.errors)
    }

    /// A venue without beacons, whose map is in no fixture.
    private static func writeKiosk(to folder: String) throws {
        let venue = """
            {"format": "indoor-localization-venue", "formatVersion": 1, "id": 7, "name": "Kiosk", "version": 1,
            "maps": [{"id": 77, "name": "Ground", "level": 0, "widthMeters": 20, "heightMeters": 10}], "beacons": []}
            """
        try Data(venue.utf8).write(to: URL(filePath: folder + "/venue.json"))
    }
}

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

/// Input files from pipes.
final class PipeTests: XCTestCase {
    /// Runs a shell command in which `$T` is the tool.
    private func shell(_ line: String) throws -> Tool.Result {
        try Tool.run(["-c", "set -o pipefail; T='\(try Tool.path())'; " + line], program: "/bin/bash")
    }

    /// A command line with the file's path, and shell commands that pass the file through a pipe.
    private func assertPipes(
        _ file: String, _ call: (String) -> String, line: UInt = #line
    ) throws {
        let plain = try shell(call(file))
        XCTAssertEqual(plain.status, 0, plain.errors, line: line)
        let fifo = try temporaryFolder() + "/fifo"
        XCTAssertEqual(mkfifo(fifo, 0o600), 0)
        for piped in [
            "cat \(file) | \(call("-"))", "cat \(file) | \(call("/dev/stdin"))", "\(call("-")) < \(file)",
            call("<(cat \(file))"), "cat \(file) > \(fifo) & \(call(fifo))",
        ] {
            let result = try shell(piped)
            XCTAssertEqual(result.status, 0, "\(piped): \(result.errors)", line: line)
            XCTAssertTrue(result.output == plain.output, piped, line: line)
        }
    }

    private let replay = "$T replay --venue Fixtures/office \(ShortDataSet.light.joined(separator: " "))"

    func testReplayReadsARecordingAndACaptureFromPipes() throws {
        let folder = try temporaryFolder()
        let walk = try ShortRecording(lines: 100).write(to: folder)
        try assertPipes(walk) { "\(replay) \($0)" }
        XCTAssertEqual(try Tool.run(["convert", walk, folder + "/walk.btsnoop"]).status, 0)
        try assertPipes(folder + "/walk.btsnoop") { "\(replay) \($0)" }
        XCTAssertEqual(try Tool.run(["convert", walk, folder + "/walk.jsonl.gz"]).status, 0)
        try assertPipes(folder + "/walk.jsonl.gz") { "\(replay) \($0)" }
    }

    func testCommandsReadOtherFilesFromPipes() throws {
        let folder = try temporaryFolder()
        let walk = try ShortRecording(lines: 60).write(to: folder)
        let (settings, zip, map) = (folder + "/settings.json", folder + "/office.zip", folder + "/map.json.gz")
        try Data("{\"positionInterval\": 0.5}".utf8).write(to: URL(filePath: settings))
        XCTAssertEqual(try Tool.run(["venue", "import", "Fixtures/imdf/museum", "-o", zip]).status, 0)
        let survey = "Fixtures/office/survey/ground-west.jsonl"
        XCTAssertEqual(try Tool.run(["survey", "--venue", "Fixtures/office", "-o", map, survey]).status, 0)
        try assertPipes(settings) { "\(replay) \(walk) --settings \($0)" }
        try assertPipes("Fixtures/geofences/office.geojson") { "\(replay) \(walk) --geofences \($0)" }
        try assertPipes(map) { "\(replay) \(walk) --radio-map \($0)" }
        try assertPipes(zip) { "$T venue info \($0)" }
        try assertPipes(survey) { "$T survey --venue Fixtures/office -o /dev/null \($0)" }
        try assertPipes("Fixtures/office/paths/track-upper.json") {
            "$T simulate --venue Fixtures/office -o /dev/stdout --path \($0)"
        }
    }

    func testAnOutputThatIsStandardInputIsRefused() throws {
        let walk = try ShortRecording(lines: 60).write(to: temporaryFolder())
        let before = try bytes(walk)
        let result = try shell("\(replay) --geojson \(walk) --overwrite - < \(walk)")
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("is also an input of this command"), result.errors)
        XCTAssertEqual(try bytes(walk), before)
    }

    func testStandardInputCanBeGivenOnlyOnce() throws {
        let result = try Tool.run(["replay", "--venue", "-", "-"])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("'-' (standard input) can be given only once"), result.errors)
    }

    /// Positions are printed while the pipe is open, not at its end.
    func testReplayPrintsPositionsWhileThePipeIsOpen() throws {
        let folder = try temporaryFolder()
        let walk = try ShortRecording(lines: 400).write(to: folder)
        // The second half is written only after the service has ended with its first position.
        let result = try shell(
            """
            mkfifo \(folder)/in \(folder)/go
            exec 3<>\(folder)/go
            (head -n 350 \(walk); read -r -u 3 _; tail -n +351 \(walk)) > \(folder)/in &
            $T serve --venue Fixtures/office --state-directory \(folder)/state --replay \(folder)/in --once
            echo go >&3
            """)
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.output.contains("\"type\":\"position\""), result.output)
    }

    /// The writer waits for a position before it ends, as a recorder in the next room would.
    func testReplayAndConvertFollowAPipeWhoseWriterKeepsItOpen() throws {
        let folder = try temporaryFolder()
        let walk = try ShortRecording(lines: 400).write(to: folder)
        for command in [
            "\(replay) \(folder)/in",
            "$T convert \(folder)/in - | \(replay) -",
        ] {
            let result = try shell(
                """
                rm -f \(folder)/in \(folder)/out; mkfifo \(folder)/in \(folder)/out
                exec 4<>\(folder)/out
                { \(command) > \(folder)/out; } &
                exec 5>\(folder)/in
                head -n 350 \(walk) >&5
                while read -r -t 120 -u 4 line; do case $line in *'"type":"position"'*) echo "$line"; break;; esac; done
                tail -n +351 \(walk) >&5
                exec 5>&-
                wait
                """)
            XCTAssertEqual(result.status, 0, "\(command): \(result.errors)")
            XCTAssertTrue(result.output.contains("\"type\":\"position\""), "\(command): \(result.errors)")
        }
    }
}

/// Names in untrusted packets can neither control the terminal nor forge lines of the tool.
final class UntrustedNameTests: XCTestCase {
    /// A name that clears the screen, forges a line, writes from right to left, and moves the cursor with a C1 control.
    private let hostile = #"Shop\u001b[2J\nerror: $.forged: line\u202egpj\u009b1A"#
    private let shown = #"Shop\u001B[2J\u000Aerror: $.forged: line\u202Egpj\u009B1A"#

    private func packet(nameless: Bool = false) throws -> String {
        let folder = try temporaryFolder() + "/packet"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = """
            {"format": "indoor-localization-venue", "formatVersion": 1, "id": 7, "name": "\(hostile)", "version": 1,
            "maps": [{"id": 1, "name": "\(hostile)", "level": 0, "widthMeters": 20, "heightMeters": 20}],
            "beacons": [{"uuid": "00000000-0000-4000-8000-000000000001", "major": 1, "minor": 1, "mapId": 1, "x": 1,
            "y": 1}], "rooms": [{"id": 1, "name": "\(hostile)", "mapId": \(nameless ? 9 : 1), "\(hostile)": 1}],
            "pois": [{"id": 1, "name": "\(hostile)", "mapId": 1, "x": 9, "y": 9}], "settings": {"\(hostile)": 1},
            "paths": {"nodes": [{"id": 1, "mapId": 1, "x": 1, "y": 1}, {"id": 2, "mapId": 1, "x": 2, "y": 9}],
            "edges": [{"from": 1, "to": 2}]}}
            """
        try Data(text.utf8).write(to: URL(filePath: folder + "/venue.json"))
        return folder
    }

    func testControlCharactersAreEscaped() throws {
        let (good, bad) = (try packet(), try packet(nameless: true))
        let calls = [
            (["venue", "info", good], 0), (["venue", "check", good], 0), (["venue", "check", bad], 1),
            (["venue", "route", good, "--from", "1,1,1", "--to", "1,2,8"], 0),
            (["venue", "route", good, "--from", "1,1,1", "--to-poi", "Books"], 1),
            (["venue", "publish", try temporaryFolder() + "/public", good], 0),
            (["venue", "publish", try temporaryFolder() + "/public", bad], 1),
            (["replay", "--venue", good, "Fixtures/office/tracks/ground.jsonl"], 0),
            (["replay", "--venue", good, "--fix", "3,1,1,1", "Fixtures/office/tracks/ground.jsonl"], 2),
        ]
        for (call, status) in calls {
            let result = try Tool.run(call)
            XCTAssertEqual(Int(result.status), status, "\(call): \(result.errors)")
            let text = result.output + result.errors
            XCTAssertTrue(text.contains(shown), "\(call): \(text)")
            for forbidden in ["\u{1B}", "\u{202E}", "\u{9B}"] {
                XCTAssertFalse(text.unicodeScalars.contains { String($0) == forbidden }, "\(call): \(text)")
            }
            XCTAssertFalse(text.split(separator: "\n").contains { $0.hasPrefix("error: $.forged") }, "\(call): \(text)")
        }
    }
}
