import IndoorLocalizationTesting
import XCTest

final class SurveyAndSimulateTests: XCTestCase {
    /// Surveys the office, or the part of it in some recordings, into a file.
    private func survey(into map: String, _ part: String = "") throws -> Tool.Result {
        let recordings = try FixtureFolder("office/survey").files(ending: part + ".jsonl")
        return try Tool.run(["survey", "--venue", "Fixtures/office", "--output", map] + recordings)
    }

    func testASurveyGivesIdenticalOutputTwice() throws {
        let folder = try temporaryFolder()
        for name in ["a.json", "b.json"] {
            let result = try survey(into: folder + "/" + name)
            XCTAssertEqual(result.status, 0)
            XCTAssertEqual(result.errors, "")
            XCTAssertTrue(result.output.hasPrefix("\(folder)/\(name): "), result.output)
            XCTAssertTrue(result.output.contains(" 32 beacons, "), result.output)
            XCTAssertTrue(result.output.contains("\nlearned: readings deviate by "), result.output)
            XCTAssertTrue(result.output.contains(", a floor attenuates by "), result.output)
        }
        XCTAssertEqual(try bytes(folder + "/a.json"), try bytes(folder + "/b.json"))
    }

    func testAReplayUsesTheRadioMapOfASurvey() throws {
        let folder = try temporaryFolder()
        let recording = try ShortRecording(lines: 100).write(to: folder)
        let map = folder + "/map.json.gz"
        XCTAssertEqual(try survey(into: map, "ground-west").status, 0)
        let with = try Tool.run(["replay", "--venue", "Fixtures/office", "--radio-map", map, recording])
        let without = try Tool.run(["replay", "--venue", "Fixtures/office", recording])
        XCTAssertEqual(with.status, 0, with.errors)
        XCTAssertTrue(with.output.contains(#""type":"position""#))
        XCTAssertNotEqual(with.output, without.output)
    }

    func testARadioMapOfAnotherVenueIsRefused() throws {
        let map = try temporaryFolder() + "/map.json"
        XCTAssertEqual(try survey(into: map, "ground-west").status, 0)
        let venue = "Fixtures/packets/accepted/smallest"
        let result = try Tool.run(
            ["replay", "--venue", venue, "--radio-map", map, "Fixtures/office/tracks/ground.jsonl"])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("\(map) is for another venue"), result.errors)
    }

    func testSurveyNamesARecordingWithoutGroundTruth() throws {
        let folder = try temporaryFolder()
        var recording = try ShortRecording(lines: 60)
        recording.lines.removeAll { $0.contains("\"truth\"") }
        let path = try recording.write(to: folder)
        let survey = "Fixtures/office/survey/ground-west.jsonl"
        let result = try Tool.run(
            ["survey", "--venue", "Fixtures/office", "--output", folder + "/map.json", survey, path])
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(result.errors, "indoorloc: \(path) has no ground truth with a position and was not used\n")
    }

    // MARK: - Simulate

    func testASimulatedWalkEqualsTheFixtureOfItsSeed() throws {
        let folder = try temporaryFolder()
        for (path, seed, fixture, name) in [
            ("one-floor", "101", "recordings/one-floor/scan.jsonl.gz", "walk.jsonl.gz"),
            ("track-upper", "303", "office/tracks/upper.jsonl", "walk.jsonl"),
        ] {
            let output = folder + "/" + name
            let result = try Tool.run([
                "simulate", "--venue", "Fixtures/office", "--path", "Fixtures/office/paths/\(path).json", "--seed",
                seed, "--output", output,
            ])
            XCTAssertEqual(result.status, 0, result.errors)
            XCTAssertEqual(result.output + result.errors, "")
            XCTAssertTrue(try bytes(output) == bytes("Fixtures/" + fixture), "\(path) with seed \(seed) differs")
        }
    }

    func testAWalkThroughAWallIsReportedAndAnEndlessOneIsRefused() throws {
        let folder = try temporaryFolder()
        func simulate(_ points: String) throws -> Tool.Result {
            let walk = folder + "/walk.json"
            let text = "{\"format\": \"indoor-localization-walk\", \"version\": 1, \"points\": [\(points)]}"
            try Data(text.utf8).write(to: URL(filePath: walk))
            return try Tool.run(
                ["simulate", "--venue", "Fixtures/office", "--path", walk, "-o", folder + "/walk.jsonl", "--overwrite"])
        }
        let through = try simulate(#"{"mapId": 1, "x": 1, "y": 1}, {"mapId": 1, "x": 35, "y": 19}"#)
        XCTAssertEqual(through.status, 0, through.errors)
        XCTAssertTrue(through.errors.contains("the segment to points[1] crosses "), through.errors)
        let before = try bytes(folder + "/walk.jsonl")
        let endless = try simulate(#"{"mapId": 1, "x": 1, "y": 1}, {"mapId": 1, "x": 1000000, "y": 1}"#)
        XCTAssertEqual(endless.status, 1)
        XCTAssertTrue(endless.errors.contains("at most 24 h and 3000000 are allowed"), endless.errors)
        XCTAssertEqual(try bytes(folder + "/walk.jsonl"), before)
    }

    func testASettingOfTheCommandLineChangesTheWalk() throws {
        let output = try temporaryFolder() + "/walk.jsonl"
        let call = [
            "simulate", "--venue", "Fixtures/office", "--path", "Fixtures/office/paths/track-upper.json", "--seed",
            "303", "--output", output, "--set", "sensors.truthInterval=2", "--set", "radio.isFading=false",
        ]
        XCTAssertEqual(try Tool.run(call).status, 0)
        XCTAssertFalse(try bytes(output) == bytes("Fixtures/office/tracks/upper.jsonl"))
    }
}
