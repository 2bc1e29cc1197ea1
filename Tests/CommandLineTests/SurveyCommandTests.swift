import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
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

final class BoundCommandTests: XCTestCase {
    private static let call = ["simulate", "--bound", "--venue", "Fixtures/office"]
    /// Options of a fast computation.
    private static let small = ["--places", "6", "--seconds", "1", "--grid", "1", "--particles", "100"]

    func testSimulatePrintsTheBoundWithTheRatioLast() throws {
        let result = try Tool.run(Self.call + Self.small)
        XCTAssertEqual(result.status, 0, result.errors)
        let names = result.output.split(separator: "\n").map { $0.prefix(23).trimmingCharacters(in: .whitespaces) }
        XCTAssertEqual(
            names,
            [
                "places", "engine", "exact posterior mean", "Cramer-Rao bound", "engine at defaults",
                "engine / exact",
            ])
    }

    func testSimulatePrintsTheBoundAsJSON() throws {
        let result = try Tool.run(Self.call + Self.small + ["--json", "--area", "100"])
        XCTAssertEqual(result.status, 0, result.errors)
        let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Double]
        let figures = try XCTUnwrap(object, result.output)
        XCTAssertEqual(
            Set(figures.keys),
            ["beacons", "places", "engine", "exact", "cramerRao", "engineAtDefaults", "ratio"])
        XCTAssertEqual(figures["places"], 6)
        XCTAssertEqual(figures["beacons"], 8)
    }

    func testInvalidBoundOptionsAreUsageErrors() throws {
        for (words, message) in [
            (["simulate", "--bound"], "--venue is missing"),
            (Self.call + ["--output", "walk.jsonl"], "--output can't be combined with --bound"),
            (Self.call + ["--sigma", "0"], "--sigma must be a number from 0.1 to 20.0, not '0'"),
            (Self.call + ["--places", "0"], "--places must be a whole number from 1 to 1000000, not '0'"),
            (["simulate", "--venue", "Fixtures/office", "--area", "50"], "--area requires --bound"),
        ] {
            let result = try Tool.run(words)
            XCTAssertEqual(result.status, 2, "\(words)")
            XCTAssertTrue(result.errors.contains(message), "\(words): \(result.errors)")
        }
    }

    func testAnUnknownMapIsAFailure() throws {
        let result = try Tool.run(Self.call + Self.small + ["--map", "77"])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(
            result.errors, "indoorloc: Fixtures/office: the venue has no map 77. Use the id of one of its maps.\n")
    }
}

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

final class SurveyReportTests: XCTestCase {
    func testTheReportIsOnePageWithAdviceErrorsAndBeacons() throws {
        let folder = try temporaryFolder()
        // Halves of two recordings, as the report locates each of them.
        let recordings = try ["ground-west", "upper-west"].map { name in
            let path = try FixtureFolder("office/survey").file(name + ".jsonl")
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").prefix(900)
            let half = "\(folder)/\(name).jsonl"
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: half))
            return half
        }
        let result = try Tool.run(
            [
                "survey", "--venue", "Fixtures/office", "--output", folder + "/map.json", "--report",
                folder + "/report.html",
            ] + recordings)
        XCTAssertEqual(result.status, 0, result.errors)
        let page = try String(contentsOfFile: folder + "/report.html", encoding: .utf8)
        for heading in ["Advice", "Expected error", "Gaps", "Beacons", "Survey points"] {
            XCTAssertTrue(page.contains("<h2>\(heading)</h2>"), heading)
        }
        XCTAssertTrue(page.contains("Positions in recordings that were left out of the survey have a mean error of "))
        for title in ["instants", "RMS residual (dB)", "mean residual (dB)"] {
            XCTAssertTrue(page.contains(">\(title)</th>"), title)
        }
        XCTAssertTrue(page.contains(" % are on the right floor."))
        XCTAssertTrue(page.contains("<svg"))
        XCTAssertFalse(page.contains("<script"))
        XCTAssertFalse(page.contains("src="))
        XCTAssertTrue(result.errors.contains("a 68 % error of "), result.errors)
        XCTAssertTrue(result.output.hasPrefix("\(folder)/map.json: "), result.output)
        XCTAssertTrue(result.output.contains(" survey points, "), result.output)
    }

    func testAnExistingReportIsKept() throws {
        let folder = try temporaryFolder()
        try "kept".write(toFile: folder + "/report.html", atomically: true, encoding: .utf8)
        let result = try Tool.run([
            "survey", "--venue", "Fixtures/office", "--output", folder + "/map.json", "--report",
            folder + "/report.html", "Fixtures/office/survey/ground-west.jsonl",
        ])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(try String(contentsOfFile: folder + "/report.html", encoding: .utf8), "kept")
        XCTAssertFalse(FileManager.default.fileExists(atPath: folder + "/map.json"))
    }
}

/// Beacons whose power byte can't be a signal strength at 1 m: their identity counts all the same.
final class UncalibratedBeaconTests: XCTestCase {
    func testAnUncalibratedBeaconIsLocatedAsACalibratedOneAndNamedOnce() throws {
        let folder = try temporaryFolder()
        let usual = try replay(power: "C5", folder)
        XCTAssertEqual(usual.errors, "")
        let positions = usual.lines.count { $0.contains(#""type":"position""#) }
        XCTAssertGreaterThan(positions, 3)
        for power in ["00", "04", "7F", "80"] {
            let result = try replay(power: power, folder)
            let (problems, others) = (
                result.lines.filter { $0.contains(#""type":"error""#) },
                result.lines.filter { !$0.contains(#""type":"error""#) }
            )
            XCTAssertEqual(others, usual.lines, power)
            try check(problems.map(String.init))
            let warnings = result.errors.split(separator: "\n")
            XCTAssertEqual(warnings.count, 1, result.errors)
            // The first beacon that the recording received.
            XCTAssertTrue(result.errors.contains("no valid measured power from beacons 1/15, "), result.errors)
            XCTAssertEqual(result.errors.components(separatedBy: "1/15,").count, 2, result.errors)
        }
    }

    /// The session names each beacon once: the first at once, and those of the following seconds together.
    private func check(_ problems: [String]) throws {
        var named: [String] = []
        for problem in problems {
            let object = try JSONSerialization.jsonObject(with: Data(problem.utf8)) as? [String: Any]
            XCTAssertEqual(object?["kind"] as? String, "beaconFault")
            named += try XCTUnwrap(object?["beacons"] as? [String])
        }
        XCTAssertEqual(named.first?.hasSuffix("/1/15"), true, "\(named)")
        XCTAssertGreaterThan(named.count, 3)
        XCTAssertEqual(Set(named).count, named.count)
        XCTAssertLessThan(problems.count, named.count)
    }

    func testACutOffStructureBehindABeaconDoesNotMatter() throws {
        let folder = try temporaryFolder()
        let usual = try replay(power: "C5", folder)
        for rest in ["09", "050941"] {
            let result = try replay(power: "C5", rest: rest, folder)
            XCTAssertEqual(result.output, usual.output, rest)
            XCTAssertEqual(result.errors, "", rest)
        }
    }

    /// Replays a walk whose beacons send iBeacon advertisements that end with a power byte and other bytes.
    private func replay(power: String, rest: String = "", _ folder: String) throws -> Tool.Result {
        var recording = try ShortRecording(lines: 120)
        recording.lines = try recording.lines.map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            guard let fields = object as? [String: Any], fields["type"] as? String == "beacon" else { return line }
            let uuid = try XCTUnwrap(fields["uuid"] as? String).replacing("-", with: "")
            let (major, minor) = (try XCTUnwrap(fields["major"] as? Int), try XCTUnwrap(fields["minor"] as? Int))
            let number = String(format: "%04X%04X", major, minor)
            let time = try XCTUnwrap(fields["t"] as? Double)
            let rssi = try XCTUnwrap(fields["rssi"] as? Int)
            return """
                {"t":\(time),"type":"advertisement","address":"C4:7C:8D:00:\(String(format: "%02X:%02X", major, minor))",\
                "addressType":"random","rssi":\(rssi),"data":"0201061AFF4C000215\(uuid)\(number)\(power)\(rest)"}
                """
        }
        let path = try recording.write(to: folder)
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", path] + ShortDataSet.light)
        XCTAssertEqual(result.status, 0, result.errors)
        return result
    }
}

/// `survey --self` on walks through the office, whose packet has the places of all beacons and no survey.
final class SelfSurveyTests: XCTestCase {
    private static let walks = ["Fixtures/office/tracks/ground.jsonl", "Fixtures/office/tracks/upper.jsonl"]

    private func learn(_ output: String, _ options: [String] = [], walks: [String] = walks) throws -> Tool.Result {
        try Tool.run(["survey", "--self", "--venue", "Fixtures/office", "--output", output] + options + walks)
    }

    func testTooFewRecordingsAreRefusedWithTheReason() throws {
        let output = try temporaryFolder() + "/learned"
        let result = try learn(output)
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(
            result.output.contains("not adopted: 2 recordings can be judged, and at least 10 are required"),
            result.output)
        XCTAssertTrue(result.output.hasSuffix("nothing was written; --force writes the packet all the same\n"))
        XCTAssertTrue(result.output.contains("sensitivity "), result.output)
        XCTAssertTrue(result.output.contains(" of 1 recording, worth "), result.output)
        XCTAssertFalse(FileManager.default.fileExists(atPath: output))
    }

    func testForceWritesAnEditionThatSessionsUse() throws {
        let output = try temporaryFolder() + "/learned"
        let result = try learn(output, ["--force", "--json"])
        XCTAssertEqual(result.status, 0, result.errors)
        let old = try VenuePacketReader().read("Fixtures/office").venue
        let new = try VenuePacketReader().read(output)
        // These are expert settings, of which the reader notes that they may change.
        XCTAssertEqual(
            new.warnings.map(\.path),
            ["floorLoss", "sensitivity", "sensitivityWidth", "wallLoss"].map {
                "$.settings[\"positioning.signal.\($0)\"]"
            })
        XCTAssertEqual(new.venue.version, old.version + 1)
        XCTAssertNil(new.venue.radioMap)
        XCTAssertEqual(new.venue.beacons.map(\.identity), old.beacons.map(\.identity))
        XCTAssertNotEqual(new.venue.beacons, old.beacons)
        let signal = SettingsStack().resolved(in: new.venue).localization.positioning.signal
        let json = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        let sensitivity = try XCTUnwrap(json["sensitivity"] as? [String: Any])
        XCTAssertEqual(sensitivity["value"] as? Double, signal.sensitivity)
        XCTAssertEqual(sensitivity["width"] as? Double, signal.sensitivityWidth)
        let file = try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(filePath: output + "/self-learning.json")))
        XCTAssertEqual(file as? NSDictionary, json as NSDictionary)
        let powers = try XCTUnwrap(json["beacons"] as? [[String: Any]])
        XCTAssertGreaterThan(powers.count, 10)
        for power in powers where power["isUsed"] as? Bool == true {
            let beacon = try XCTUnwrap(new.venue.beacons.first { $0.name == power["name"] as? String })
            XCTAssertEqual(
                try XCTUnwrap(beacon.measuredPower), try XCTUnwrap(power["measuredPower"] as? Double), accuracy: 0.006)
        }
        let recording = try ShortRecording(lines: 100).write(to: temporaryFolder())
        let before = try Tool.run(["replay", "--venue", "Fixtures/office", recording])
        let after = try Tool.run(["replay", "--venue", output, recording])
        XCTAssertEqual(after.status, 0, after.errors)
        XCTAssertTrue(after.output.contains(#""type":"position""#))
        XCTAssertNotEqual(before.output, after.output)
        // The packet is not replaced without being told.
        XCTAssertEqual(try learn(output, ["--force"]).status, 1)
    }

    func testRecordingsOfAnotherVenueTeachNothing() throws {
        let output = try temporaryFolder() + "/learned"
        let result = try learn(output, ["--force"], walks: ["Fixtures/real/tetam/tracks"])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.output.contains("are the recordings of another venue?"), result.output)
        XCTAssertTrue(result.output.hasSuffix("nothing was written\n"), result.output)
        XCTAssertFalse(FileManager.default.fileExists(atPath: output))
    }

    func testAVenueWithARadioMapIsRefused() throws {
        let result = try Tool.run([
            "survey", "--self", "--venue", "Fixtures/real/openhps", "--output", temporaryFolder() + "/learned",
            "Fixtures/real/openhps/tracks",
        ])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("Fixtures/real/openhps has a radio map"), result.errors)
    }

    func testOptionsThatDoNotFitAreRefused() throws {
        for (options, message) in [
            (["--self", "--audit"], "--audit can't be combined with --self"),
            (["--self", "--unlabelled", "walks"], "--unlabelled can't be combined with --self"),
            (["--force"], "--force requires --self"),
        ] {
            let result = try Tool.run(
                ["survey", "--venue", "Fixtures/office", "-o", temporaryFolder() + "/x"] + options + Self.walks)
            XCTAssertEqual(result.status, 2)
            XCTAssertTrue(result.errors.contains(message), result.errors)
        }
        let withoutOutput = try Tool.run(["survey", "--self", "--venue", "Fixtures/office"] + Self.walks)
        XCTAssertEqual(withoutOutput.status, 2)
        XCTAssertTrue(withoutOutput.errors.contains("--output"), withoutOutput.errors)
    }
}

/// `evaluate --self` on the office with two recordings to learn from.
final class SelfEvaluationTests: XCTestCase {
    func testTheScoresWithoutWithLearnedValuesAndWithTheSurvey() throws {
        let folder = try temporaryFolder()
        for name in [
            "venue.json", "plans", "tiles", "tracks/upper.jsonl", "survey/upper-east.jsonl", "survey/upper-west.jsonl",
        ] {
            let target = URL(filePath: folder + "/" + name)
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: FixtureFolder("office").path + "/" + name, toPath: target.path)
        }
        let result = try Tool.run([
            "evaluate", folder, "--self", "1", "--json", "--set", "positioning.particleCount=300",
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        let json = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        XCTAssertEqual(json["recordings"] as? Int, 1)
        func mean(_ member: String) throws -> Double {
            try XCTUnwrap((json[member] as? [String: Any])?["mean"] as? Double, member)
        }
        // One recording is never adopted.
        XCTAssertEqual(try mean("used"), try mean("without"))
        XCTAssertNotEqual(try mean("learned"), try mean("without"))
        XCTAssertNotEqual(try mean("surveyed"), try mean("without"))
        let verdict = try XCTUnwrap((json["verdicts"] as? [[String: Any]])?.first)
        XCTAssertEqual(verdict["adopted"] as? Bool, false)
        let isBetter = try mean("learned") < 0.99 * mean("without")
        XCTAssertEqual(
            json["decisions"] as? [String: Int],
            ["adopted": 0, "adoptedWorse": 0, "refused": 1, "refusedBetter": isBetter ? 1 : 0])
    }

    func testOptionsThatDoNotFitAreRefused() throws {
        for (options, message) in [
            (["--self", "0"], "--self must be a number of recordings or 'all', not '0'"),
            (["--self", "all", "--offline"], "--self can't be combined with --offline"),
        ] {
            let result = try Tool.run(["evaluate", "Fixtures/office"] + options)
            XCTAssertEqual(result.status, 2)
            XCTAssertTrue(result.errors.contains(message), result.errors)
        }
        let result = try Tool.run(["evaluate", "Fixtures/real/tetam", "--self", "all"])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("--self requires recordings in survey or walks"), result.errors)
    }
}
