import Foundation
import FoundationXML
import IndoorLocalizationTesting
import XCTest

final class PlotCommandTests: XCTestCase {
    private static let walk = "Fixtures/recordings/one-floor/scan.jsonl.gz"
    private static let picture = "Fixtures/pictures/one-floor.svg"

    /// Renders an SVG document with `rsvg-convert`, which rejects one that is not well-formed.
    private func assertRenders(_ svg: String, _ name: String = "", line: UInt = #line) throws {
        let path = try temporaryFolder() + "/figure.svg"
        try Data(svg.utf8).write(to: URL(filePath: path))
        let result = try Tool.run(["rsvg-convert", "--output", path + ".png", path], program: "/usr/bin/env")
        XCTAssertEqual(result.status, 0, "\(name): \(result.errors)", line: line)
        XCTAssertTrue(try bytes(path + ".png").starts(with: [0x89, 0x50, 0x4e, 0x47]), name, line: line)
    }

    /// Asserts that a command draws a figure with some texts.
    @discardableResult
    private func assertDraws(_ arguments: String..., texts: [String], line: UInt = #line) throws -> String {
        let result = try Tool.run(["plot"] + arguments)
        XCTAssertEqual(result.status, 0, result.errors, line: line)
        for text in texts { XCTAssertTrue(result.output.contains(text), "no '\(text)'", line: line) }
        try assertRenders(result.output, arguments[0], line: line)
        return result.output
    }

    func testPlotTrackDrawsThePictureOfTheReadme() throws {
        let svg = try assertDraws(
            "track", "--venue", "Fixtures/office", Self.walk,
            texts: ["Median error", "ground truth", "68 % radius", ">start</text>", ">end</text>", "Ground floor"])
        let picture = try Checkout.root().appending(path: Self.picture)
        if ProcessInfo.processInfo.environment["UPDATE_SNAPSHOTS"] == "1" { try Data(svg.utf8).write(to: picture) }
        XCTAssertTrue(
            try Data(svg.utf8) == Data(contentsOf: picture),
            "\(Self.picture) is not what 'plot track' draws; write it again with UPDATE_SNAPSHOTS=1")
    }

    func testPlotTrackDrawsEachFloorOrTheChosenOne() throws {
        let stairs = "Fixtures/recordings/stairs/scan.jsonl.gz"
        try assertDraws(
            "track", "--venue", "Fixtures/office", stairs, texts: [">Ground floor</text>", ">Upper floor</text>"])
        let one = try assertDraws(
            "track", "--venue", "Fixtures/office", "--map", "2", stairs, texts: [">Upper floor</text>"])
        XCTAssertFalse(one.contains(">Ground floor</text>"))
    }

    func testPlotErrorComparesAllMethods() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        try assertDraws(
            "error", set,
            texts: [">particle</text>", ">fingerprint</text>", ">trilateration</text>", "particle: mean "])
    }

    func testPlotErrorOverTimeDrawsTheRadiusOfTheMethod() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let svg = try assertDraws(
            "error", "--against", "time", "--method", "fingerprint", set,
            texts: [">68 % radius of fingerprint</text>", ">error of fingerprint</text>", ">Time (s)</text>"])
        XCTAssertFalse(svg.contains("particle"))
    }

    func testPlotTrackOfASessionWithoutPositionsSaysSo() throws {
        var recording = try ShortRecording(lines: 100)
        recording.lines.removeAll { $0.contains("\"beacon\"") }
        let unheard = try recording.write(to: temporaryFolder())
        try assertDraws(
            "track", "--venue", "Fixtures/office", unheard, texts: ["ground truth", "The session emitted no position"])
    }

    func testPlotErrorReadsRecordingsWithAVenue() throws {
        let recording = try ShortRecording(lines: 250).write(to: temporaryFolder())
        try assertDraws(
            "error", "--venue", "Fixtures/office", "--method", "trilateration", recording, texts: ["short: error"])
    }

    func testPlotResidualsDrawsTheSurveyOrTheReadingsOfTracks() throws {
        try assertDraws(
            "residuals", "--venue", "Fixtures/real/openhps",
            texts: [
                "Measured − expected RSSI (dB)", ">Each beacon</text>", "1751 readings of 11 beacons", "1/10 (",
                "The radio map was learned from these readings",
            ])
        try assertDraws("residuals", "Fixtures/real/openhps", texts: ["430 readings of 10 beacons: mean 2.4 dB"])
    }

    func testPlotRangeDrawsALawForEachBeacon() throws {
        let svg = try assertDraws(
            "range", "--venue", "Fixtures/real/openhps", "--beacon", "1/3", "--beacon", "1/7",
            texts: ["1/3: −69.8 dBm at 1 m, exponent 1.5, ± 3.9 dB", "1/7: ", "RSSI (dBm)", "Distance (m)"])
        XCTAssertFalse(svg.contains("1/1: "))
    }

    func testPlotRadioMapDrawsTheStrongestOrTheChosenBeacons() throws {
        try assertDraws(
            "radiomap", "Fixtures/real/openhps",
            texts: ["expected RSSI of the strongest beacon", "survey points", "412 survey points and 11 beacons"])
        try assertDraws("radiomap", "--beacon", "1/3", "Fixtures/real/openhps", texts: [">1/3</text>"])
    }

    func testAFigureIsWrittenToAFileThatOnlyItsOwnerReadsAndIsNotReplacedUnasked() throws {
        let folder = try temporaryFolder()
        let recording = try ShortRecording(lines: 250).write(to: folder)
        let output = folder + "/walk.svg"
        let arguments = ["plot", "track", "--venue", "Fixtures/office", "--output", output, recording]
        let first = try Tool.run(arguments)
        XCTAssertEqual(first.status, 0, first.errors)
        XCTAssertEqual(first.output, "")
        let mode = try FileManager.default.attributesOfItem(atPath: output)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o600)
        let kept = try bytes(output)
        let second = try Tool.run(arguments)
        XCTAssertEqual(second.status, 1)
        XCTAssertTrue(second.errors.contains("already exists: use --overwrite"), second.errors)
        XCTAssertEqual(try Tool.run(arguments + ["--overwrite"]).status, 0)
        XCTAssertEqual(try bytes(output), kept, "the same input gives different bytes")
    }

    func testAnInvalidCommandLineIsExplained() throws {
        let set = "Fixtures/real/openhps"
        for (arguments, message) in [
            (["error"], "DATASET is missing; or give --venue and recordings"),
            (["error", "--venue", set], "RECORDING is missing"),
            (["error", Self.walk], "recordings require --venue"),
            (["error", set, set], "unexpected operand"),
            (["error", "--against", "space", set], "--against must be cdf or time, not 'space'"),
            (
                ["error", "--method", "guess", set],
                "must be one of particle, fingerprint, trilateration, strongest, centroid, multilateration, knn, not 'guess'"
            ),
            (["error", "--output", "x.PNG", set], "--output: the figure is an SVG document; name it .svg, not '.PNG'"),
            (["residuals", "--output", "x.pdf", set], "name it .svg, not '.pdf'"),
            (["coverage", "--output", "x.png", "--venue", "Fixtures/office"], "name it .svg, not '.png'"),
            (["track", Self.walk], "--venue is missing"),
            (["track", "--venue", "Fixtures/office", "--map", "9", Self.walk], "has no map 9, only 1, 2"),
            (["radiomap", "--each", "--beacon", "1/3", set], "--each and --beacon can't be combined"),
            (["radiomap", "--beacon", "77", set], "'77' is not a beacon of the venue, such as 1/1"),
        ] {
            let result = try Tool.run(["plot"] + arguments)
            XCTAssertEqual(result.status, 2, "\(arguments)")
            XCTAssertTrue(result.errors.contains(message), "\(arguments): \(result.errors)")
            XCTAssertEqual(result.output, "", "\(arguments)")
        }
    }

    func testInputWithNothingToDrawIsAnErrorThatSaysWhy() throws {
        let folder = try temporaryFolder()
        var recording = try ShortRecording(lines: 100)
        var unheardRecording = recording
        unheardRecording.lines.removeAll { $0.contains("\"beacon\"") }
        let unheard = try unheardRecording.write(to: folder, as: "unheard.jsonl")
        recording.lines.removeAll { $0.contains("\"truth\"") }
        let blind = try recording.write(to: folder)
        recording.lines.removeAll { $0.contains("\"beacon\"") }
        let silent = try recording.write(to: folder, as: "silent.jsonl")
        for (arguments, message) in [
            (["error", "--venue", "Fixtures/office", blind], "the recordings have no ground truth"),
            (["error", "--venue", "Fixtures/office", unheard], "no position at any of the "),
            (["residuals", "--venue", "Fixtures/office", blind], "no reading of a beacon of the venue at a place"),
            (["range", "--venue", "Fixtures/office", blind], "no reading of a beacon of the venue at a place"),
            (["residuals", "--venue", "Fixtures/office"], "'Office' has no radio map; give recordings"),
            (["track", "--venue", "Fixtures/office", silent], "nothing to draw: no position, as "),
        ] {
            let result = try Tool.run(["plot"] + arguments)
            XCTAssertEqual(result.status, 1, "\(arguments)")
            XCTAssertTrue(result.errors.contains(message), "\(arguments): \(result.errors)")
            XCTAssertEqual(result.output, "", "\(arguments)")
        }
    }
}

final class PlotCoverageCommandTests: XCTestCase {
    func testTheDrawingHasEachMapAndTheProposals() throws {
        let file = try temporaryFolder() + "/coverage.svg"
        let result = try Tool.run([
            "plot", "coverage", "--venue", "Fixtures/office", "--beacons", "2", "--target", "3", "--output", file,
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        let svg = try String(contentsOfFile: file, encoding: .utf8)
        XCTAssertNoThrow(try XMLDocument(xmlString: svg))
        XCTAssertTrue(svg.contains("Expected 68 % error (m)"), svg)
        XCTAssertTrue(svg.contains("proposed beacons"))
        let lines = result.output.split(separator: "\n")
        XCTAssertTrue(svg.contains("<title>Expected 68 % error: Office</title>"), svg)
        let map = try XCTUnwrap(lines.first)
        XCTAssertTrue(map.contains(": the mean expected 68 % error is "), result.output)
        XCTAssertTrue(
            map.hasSuffix(" % of the walkable area has an expected error of at most 3.00 m."), result.output)
        let proposal = try XCTUnwrap(lines.last)
        XCTAssertTrue(proposal.hasPrefix("Proposed beacon 2 at ("), result.output)
        XCTAssertTrue(proposal.contains(": with it, the mean expected 68 % error of all maps is "), result.output)
    }

    func testTheDrawingGoesToStandardOutputWithoutAFile() throws {
        let result = try Tool.run(["plot", "coverage", "--venue", "Fixtures/office", "--map", "1"])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertNoThrow(try XMLDocument(xmlString: result.output))
        XCTAssertTrue(result.output.contains("Proposed beacon 1 at ("), "one beacon is proposed by default")
        XCTAssertFalse(result.output.contains("Proposed beacon 2 at ("))
    }

    func testJSONHasTheErrorOfEachCell() throws {
        let result = try Tool.run([
            "plot", "coverage", "--venue", "Fixtures/office", "--map", "1", "--beacons", "1", "--json",
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        let object = try XCTUnwrap(
            JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        let maps = try XCTUnwrap(object["maps"] as? [[String: Any]])
        XCTAssertEqual(maps.count, 1)
        XCTAssertEqual(maps[0]["mapId"] as? Int, 1)
        let cells = try XCTUnwrap(maps[0]["errors"] as? [Any])
        XCTAssertEqual(cells.count, (maps[0]["columns"] as? Int ?? 0) * (maps[0]["rows"] as? Int ?? 0))
        let mean = try XCTUnwrap(maps[0]["meanError"] as? Double)
        let proposals = try XCTUnwrap(object["proposedBeacons"] as? [[String: Any]])
        XCTAssertEqual(proposals.count, 1)
        XCTAssertLessThan(try XCTUnwrap(proposals[0]["meanError"] as? Double), mean)
    }

    func testInvalidOptionsAreReported() throws {
        let venue = ["plot", "coverage", "--venue", "Fixtures/office"]
        let missing = try Tool.run(["plot", "coverage"])
        XCTAssertEqual(missing.status, 2)
        XCTAssertTrue(missing.errors.contains("--venue is missing"), missing.errors)
        let target = try Tool.run(venue + ["--json", "--target", "0"])
        XCTAssertEqual(target.status, 2)
        XCTAssertTrue(
            target.errors.contains("--target must be a number of metres from 0.1 to 1000, not '0'"), target.errors)
        let map = try Tool.run(venue + ["--json", "--map", "99"])
        XCTAssertEqual(map.status, 2)
        XCTAssertTrue(map.errors.contains("has no map 99"), map.errors)
    }
}
