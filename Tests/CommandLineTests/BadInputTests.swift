import IndoorLocalizationTesting
import XCTest

/// Files that are missing or wrong end with status 1 and a message that names the file, the line and the field.
final class BadInputTests: XCTestCase {
    func testAMissingFileIsNamedByEveryCommand() throws {
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

    func testARecordingWithoutABeaconOfTheVenueIsToldSo() throws {
        let folder = try temporaryFolder()
        var recording = try ShortRecording(lines: 60)
        recording.lines.removeAll { $0.contains("\"beacon\"") }
        let path = try recording.write(to: folder)
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", path])
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(result.errors, "indoorloc: \(path): no position, as no beacon of 'Office' was heard in it\n")
    }

    func testADataSetWithoutTracksIsToldSo() throws {
        let path = try FixtureFolder("packets/accepted/smallest").path
        let result = try Tool.run(["evaluate", path])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("\(path)/tracks holds no recording"), result.errors)
    }

    func testASurveyWithoutTruthIsToldSo() throws {
        let folder = try temporaryFolder()
        var recording = try ShortRecording(lines: 60)
        recording.lines.removeAll { $0.contains("\"truth\"") }
        let path = try recording.write(to: folder)
        let map = folder + "/map.json"
        let result = try Tool.run(["survey", "--venue", "Fixtures/office", "--output", map, path])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("they need truth with mapId, x, y"), result.errors)
        XCTAssertFalse(FileManager.default.fileExists(atPath: map))
    }

    // MARK: - A bad line

    /// A recording whose line 101 is wrong, and the same without that line.
    private func badAndGood(in folder: String) throws -> (bad: String, good: String) {
        let good = try ShortRecording(lines: 160)
        var bad = good
        bad.lines.insert(#"{"t":0,"type":"beacon","major":1,"minor":1,"rssi":"loud"}"#, at: 100)
        return (try bad.write(to: folder, as: "bad.jsonl"), try good.write(to: folder, as: "good.jsonl"))
    }

    func testABadLineEndsTheReplayWithFileLineAndField() throws {
        let (bad, _) = try badAndGood(in: temporaryFolder())
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", bad])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.hasPrefix("indoorloc: \(bad):101: field `"), result.errors)
        XCTAssertTrue(result.errors.contains("read leniently"), result.errors)
    }

    func testWhatCameBeforeABadLineIsPrinted() throws {
        let (bad, good) = try badAndGood(in: temporaryFolder())
        let before = try Tool.run(["replay", "--venue", "Fixtures/office", bad]).output
        let whole = try Tool.run(["replay", "--venue", "Fixtures/office", good]).output
        XCTAssertTrue(before.contains(#""type":"position""#), before)
        XCTAssertTrue(whole.hasPrefix(before))
    }

    func testALenientReplayCountsTheBadLineAndPrintsTheRest() throws {
        let (bad, good) = try badAndGood(in: temporaryFolder())
        let lenient = try Tool.run(["replay", "--venue", "Fixtures/office", "--lenient", bad])
        XCTAssertEqual(lenient.status, 0)
        XCTAssertTrue(
            lenient.errors.hasPrefix("indoorloc: \(bad): 1 bad line skipped: \(bad):101: field `"), lenient.errors)
        XCTAssertEqual(lenient.output, try Tool.run(["replay", "--venue", "Fixtures/office", good]).output)
    }

    func testReadingsThatAreNoneAreCounted() throws {
        var recording = try ShortRecording(lines: 60)
        let beacon = try XCTUnwrap(recording.lines.firstIndex { $0.contains("\"beacon\"") })
        let silent = recording.lines[beacon].replacing(/"rssi":-[0-9]+/, with: "\"rssi\":127")
        recording.lines.insert(silent, at: beacon)
        let path = try recording.write(to: temporaryFolder())
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", path])
        XCTAssertEqual(result.status, 0)
        XCTAssertTrue(result.errors.contains("1 sighting dropped whose RSSI is no measurement"), result.errors)
    }
}
