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
