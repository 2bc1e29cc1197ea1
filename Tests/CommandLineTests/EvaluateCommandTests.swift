import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class EvaluateCommandTests: XCTestCase {
    private typealias Figures = [String: Any]
    private static let keys = [
        "dataset", "method", "n", "answered", "floor", "mean", "median", "p75", "p90", "p95", "ipin", "insideRadius",
        "radius",
    ]

    private func figures(_ text: String) throws -> Figures {
        try XCTUnwrap(JSONSerialization.jsonObject(with: Data(text.utf8)) as? Figures, text)
    }

    func testEvaluatePrintsAllFiguresIndependentOfTheNumberOfJobs() throws {
        let replays = try temporaryFolder()
        let call = ["evaluate", "Fixtures/office", "--json"] + ShortDataSet.light
        let one = try Tool.run(call + ["-j", "1", "--replays", replays])
        let two = try Tool.run(call + ["-j", "2"])
        XCTAssertEqual(one.status, 0)
        XCTAssertEqual(one.errors, "")
        XCTAssertEqual(one.output, two.output)

        let figures = try figures(one.output)
        XCTAssertEqual(Set(figures.keys), Set(Self.keys))
        XCTAssertEqual(figures["dataset"] as? String, "office")
        XCTAssertEqual(figures["method"] as? String, "particle")
        XCTAssertGreaterThan(try XCTUnwrap(figures["n"] as? Int), 100)
        for share in ["answered", "floor", "insideRadius"] {
            XCTAssertTrue((0.5...1).contains(try XCTUnwrap(figures[share] as? Double)), share)
        }
        let order = try ["median", "p75", "p90", "p95"].map { try XCTUnwrap(figures[$0] as? Double) }
        XCTAssertEqual(order, order.sorted())

        let names = try FileManager.default.contentsOfDirectory(atPath: replays).sorted()
        XCTAssertEqual(names, ["elevator.jsonl", "ground.jsonl", "upper.jsonl"])
        try assertSameAsTheOtherScorer(figures, replays: replays)
    }

    /// The tracks are simulated: a stay and a walk among anchors, with reflections.
    func testEvaluateScoresADataSetOfDistances() throws {
        let folder = try temporaryFolder()
        let anchors = [(0, 0), (30, 0), (30, 20), (0, 20), (15, 0), (15, 20)].enumerated().map { index, place in
            #"{"id": "A\#(index)", "mapId": 1, "x": \#(place.0), "y": \#(place.1), "z": 3}"#
        }
        let venue = """
            {"format": "indoor-localization-venue", "formatVersion": 1, "id": 4, "name": "hall", "version": 1,
            "maps": [{"id": 1, "name": "hall", "level": 0, "widthMeters": 30, "heightMeters": 20}],
            "beacons": [], "anchors": [\(anchors.joined(separator: ", "))]}
            """
        try FileManager.default.createDirectory(atPath: folder + "/tracks", withIntermediateDirectories: true)
        try venue.write(toFile: folder + "/venue.json", atomically: true, encoding: .utf8)
        let walk = """
            {"format": "indoor-localization-walk", "version": 1, "points": [{"mapId": 1, "x": 8, "y": 6, "pause": 20},
            {"mapId": 1, "x": 22, "y": 6}, {"mapId": 1, "x": 22, "y": 14, "pause": 5}],
            "settings": {"ranges.interval": 0.5}}
            """
        try walk.write(toFile: folder + "/walk.json", atomically: true, encoding: .utf8)
        let simulated = try Tool.run([
            "simulate", "--venue", folder, "--path", folder + "/walk.json", "--seed", "1", "--output",
            folder + "/tracks/walk.jsonl",
        ])
        XCTAssertEqual(simulated.status, 0, simulated.errors)
        let result = try Tool.run(["evaluate", folder, "--json"] + ShortDataSet.light)
        XCTAssertEqual(result.status, 0, result.errors)
        let figures = try figures(result.output)
        XCTAssertEqual(figures["answered"] as? Double, 1)
        XCTAssertLessThan(try XCTUnwrap(figures["mean"] as? Double), 1)
        let others = try Tool.run(["evaluate", folder, "--method", "trilateration,centroid", "--json"])
        XCTAssertEqual(others.status, 1)
        let trilateration = try self.figures(others.output)
        XCTAssertEqual(trilateration["answered"] as? Double, 1)
        // Measured: 1.87 m. The window of 4 s lags behind the walk.
        XCTAssertLessThan(try XCTUnwrap(trilateration["mean"] as? Double), 2.3)
        XCTAssertTrue(
            others.errors.contains("centroid: the method centroid uses RSSI, and the venue has anchors only"),
            others.errors)
    }

    /// Compares with an independent scorer, if it exists beside the checkout.
    private func assertSameAsTheOtherScorer(_ figures: Figures, replays: String) throws {
        let scorer = try Checkout.root().appending(path: "../shared/tools/score.py").standardizedFileURL
        let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
        guard let python, FileManager.default.fileExists(atPath: scorer.path) else {
            return print("not compared with another scorer: \(scorer.path) or python3 is not there")
        }
        let office = try FixtureFolder("office").path
        let result = try Tool.run([scorer.path, office, replays, "--json"], program: python)
        XCTAssertEqual(result.status, 0, result.errors)
        let others = try self.figures(result.output)
        XCTAssertEqual(others["n"] as? Int, figures["n"] as? Int)
        // The other scorer has no radius.
        for key in Self.keys.dropFirst(3) where key != "radius" {
            let (ours, theirs) = (try XCTUnwrap(figures[key] as? Double), try XCTUnwrap(others[key] as? Double))
            // `evaluate` prints four decimals.
            XCTAssertEqual(ours, theirs, accuracy: 0.000_051, key)
        }
    }

    func testReplaysOfEvaluateHaveTheLinesOfReplayAndTheScoredPositions() throws {
        let folder = try temporaryFolder()
        let set = try shortSet(in: folder, lines: 150)
        let result = try Tool.run(["evaluate", set, "--replays", folder + "/replays"])
        XCTAssertEqual(result.status, 0, result.errors)
        let replay = try Tool.run(["replay", "--venue", set, set + "/tracks/short.jsonl"])
        let written = String(decoding: try bytes(folder + "/replays/short.jsonl"), as: UTF8.self)
        let lines = written.split(separator: "\n")
        let told = Set(replay.lines)
        XCTAssertEqual(lines.filter(told.contains), replay.lines)
        let asked = lines.filter { !told.contains($0) }
        let track = try String(contentsOfFile: set + "/tracks/short.jsonl", encoding: .utf8)
        let truths = Set(try Self.instants(of: "truth", in: track))
        let instants = try Self.instants(of: "position", in: asked.joined(separator: "\n"))
        XCTAssertEqual(instants.count, asked.count)
        XCTAssertFalse(asked.isEmpty)
        XCTAssertTrue(truths.isSuperset(of: instants), "\(instants) of \(truths)")
    }

    private static func instants(of type: String, in lines: String) throws -> [Double] {
        try lines.split(separator: "\n").compactMap { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["type"] as? String == type ? object?["t"] as? Double : nil
        }
    }

    func testAnInvalidLineOfATrackIsAFailureUnlessLenient() throws {
        let folder = try temporaryFolder()
        let set = try shortSet(in: folder, lines: 150)
        var recording = try ShortRecording(lines: 150)
        recording.lines.insert("not JSON", at: 10)
        let track = try recording.write(to: set + "/tracks")
        let strict = try Tool.run(["evaluate", set])
        XCTAssertEqual(strict.status, 1)
        XCTAssertTrue(strict.errors.hasPrefix("indoorloc: \(track):11: "), strict.errors)
        let lenient = try Tool.run(["evaluate", set, "--lenient"])
        XCTAssertEqual(lenient.status, 0)
        XCTAssertTrue(lenient.errors.contains("\(track): 1 invalid line skipped"), lenient.errors)
    }

    /// A data set without survey: the office's packet without other files, and one short track.
    private func shortSet(in folder: String, lines: Int) throws -> String {
        let set = folder + "/set"
        try FileManager.default.createDirectory(atPath: set + "/tracks", withIntermediateDirectories: true)
        for name in ["venue.json", "plans", "tiles"] {
            let source = try FixtureFolder("office").path + "/" + name
            try FileManager.default.copyItem(atPath: source, toPath: set + "/" + name)
        }
        _ = try ShortRecording(lines: lines).write(to: set + "/tracks")
        return set
    }
}

final class EvaluationReportTests: XCTestCase {
    func testAReportHasTheScoresAndFiguresAndLoadsNothing() throws {
        let folder = try temporaryFolder()
        let set = try ShortDataSet.write(to: folder)
        let reports = folder + "/reports"
        let result = try Tool.run(["evaluate", set, "--report", reports])
        XCTAssertEqual(result.status, 0, result.errors)
        let page = String(decoding: try bytes(reports + "/report-set.html"), as: UTF8.self)
        let line = try XCTUnwrap(result.lines.first)
        XCTAssertTrue(page.contains("<h2>Beacons</h2>"))
        XCTAssertTrue(page.contains("content=\"\(line)\""), "the printed score is in the page")
        for method in ["particle", "fingerprint", "trilateration"] {
            XCTAssertTrue(page.contains("<th scope=\"row\">\(method)</th>"), method)
        }
        for title in [
            "Distribution of the error", "Error over time", "short", "Expected RSSI of the strongest beacon",
            "Measured minus expected RSSI on the tracks", "RSSI over distance on the tracks",
            "Expected 68 % error: Office",
        ] {
            XCTAssertTrue(page.contains("<title>\(title)</title>"), title)
        }
        let pages = [page, String(decoding: try bytes(reports + "/index.html"), as: UTF8.self)]
        for page in pages {
            XCTAssertFalse(page.contains("<script"))
            XCTAssertTrue(page.contains("default-src 'none'"))
            let addresses = page.matches(of: /(?:href|src|url)\s*[=(]\s*"?([^"\s>)]+)/).map { String($0.1) }
            // Pages of the folder, the images of plans in the page, and the figures that show them.
            let allowed = ["./", "data:image/", "#plan-"]
            let others = addresses.filter { address in !allowed.contains { address.hasPrefix($0) } }
            XCTAssertEqual(others, [])
        }
        let mode = try FileManager.default.attributesOfItem(atPath: reports + "/report-set.html")[.posixPermissions]
        XCTAssertEqual(mode as? Int, 0o600)
    }

    func testAReportHasFiguresForATelephoneAndTheImageOfEachPlanOnce() throws {
        let folder = try temporaryFolder()
        let result = try Tool.run([
            "evaluate", "Fixtures/office", "--method", "trilateration", "--report", folder + "/reports",
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        let page = String(decoding: try bytes(folder + "/reports/report-office.html"), as: UTF8.self)
        let narrow = page.components(separatedBy: "<figure class=\"narrow\">").count
        XCTAssertEqual(narrow, page.components(separatedBy: "<figure class=\"wide\">").count)
        XCTAssertGreaterThan(narrow, 5)
        XCTAssertTrue(page.contains("width=\"380\""))
        // Three tracks on two floors, the expected RSSI and the expected errors show the two plans.
        XCTAssertEqual(page.components(separatedBy: "href=\"data:image/").count - 1, 2)
        XCTAssertGreaterThan(page.components(separatedBy: "href=\"#plan-").count - 1, 2 * 6)
        XCTAssertTrue(page.contains("img-src data:"))
    }

    func testTheIndexListsTheReportsOfAllSetsWithTheirScores() throws {
        let folder = try temporaryFolder()
        let set = try ShortDataSet.write(to: folder)
        let hostile = folder + "/<b>&\"x:y\""
        try FileManager.default.moveItem(atPath: set, toPath: hostile)
        let reports = folder + "/reports"
        let first = try Tool.run(["evaluate", hostile, "--report", reports, "--method", "trilateration"])
        XCTAssertEqual(first.status, 0, first.errors)
        try FileManager.default.moveItem(atPath: hostile, toPath: set)
        let second = try Tool.run(["evaluate", set, "--report", reports, "--method", "fingerprint", "--shift=5"])
        XCTAssertEqual(second.status, 0, second.errors)
        let index = String(decoding: try bytes(reports + "/index.html"), as: UTF8.self)
        XCTAssertTrue(index.contains("&lt;b&gt;&amp;&quot;x:y&quot;</a>"), index)
        XCTAssertFalse(index.contains("<b>"))
        XCTAssertTrue(index.contains("<a href=\"./report-set.html\">set</a><br>set: n "), index)
        let page = String(decoding: try bytes(reports + "/report-set.html"), as: UTF8.self)
        XCTAssertTrue(page.contains("RSSI +5.0 dB"))
        XCTAssertFalse(page.contains("trilateration"), "only the given method is evaluated")
    }

    func testAReportIsNotReplacedUnasked() throws {
        let folder = try temporaryFolder()
        let set = try ShortDataSet.write(to: folder)
        try Data("mine".utf8).write(to: URL(filePath: folder + "/report-set.html"))
        let arguments = ["evaluate", set, "--report", folder, "--method", "fingerprint"]
        let refused = try Tool.run(arguments)
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.errors.contains("already exists: use --overwrite"), refused.errors)
        XCTAssertEqual(try bytes(folder + "/report-set.html"), Data("mine".utf8))
        XCTAssertEqual(try Tool.run(arguments + ["--overwrite"]).status, 0)
        XCTAssertGreaterThan(try bytes(folder + "/report-set.html").count, 10_000)
    }

    func testAPageThatIsNoIndexOfReportsIsNotReplacedUnasked() throws {
        let folder = try temporaryFolder()
        let set = try ShortDataSet.write(to: folder)
        let index = folder + "/index.html"
        try Data("<title>Mine</title>".utf8).write(to: URL(filePath: index))
        let arguments = ["evaluate", set, "--report", folder, "--method", "fingerprint"]
        let refused = try Tool.run(arguments)
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.errors.contains("\(index) already exists: use --overwrite"), refused.errors)
        XCTAssertEqual(try bytes(index), Data("<title>Mine</title>".utf8))
        XCTAssertFalse(FileManager.default.fileExists(atPath: folder + "/report-set.html"))
        XCTAssertEqual(try Tool.run(arguments + ["--overwrite"]).status, 0)
        XCTAssertTrue(String(decoding: try bytes(index), as: UTF8.self).contains("report-set.html"))
    }

    func testADataSetWithoutGroundTruthHasNoReport() throws {
        let folder = try temporaryFolder()
        let set = try ShortDataSet.write(to: folder)
        var track = try ShortRecording(lines: 250)
        track.lines.removeAll { $0.contains("\"truth\"") }
        _ = try track.write(to: set + "/tracks")
        let reports = folder + "/reports"
        let result = try Tool.run(["evaluate", set, "--report", reports, "--method", "fingerprint"])
        XCTAssertEqual(result.status, 1)
        let message = "positions are compared with lines of type truth; the report was not written"
        XCTAssertTrue(result.errors.contains(message), result.errors)
        XCTAssertFalse(FileManager.default.fileExists(atPath: reports + "/report-set.html"))
    }

    func testTheFolderOfReportsMustNotBeAFile() throws {
        let folder = try temporaryFolder()
        let file = folder + "/report.html"
        try Data().write(to: URL(filePath: file))
        let result = try Tool.run(["evaluate", try ShortDataSet.write(to: folder), "--report", file])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("--report: \(file) is a file; give a folder"), result.errors)
    }

    func testAReportOfSeveralShiftsOrOfMotionIsRefused() throws {
        for arguments in [["--shift=0,5"], ["--motion"]] {
            let result = try Tool.run(["evaluate", "Fixtures/office", "--report", "reports"] + arguments)
            XCTAssertEqual(result.status, 2)
            XCTAssertTrue(result.errors.contains("--report can't be combined with"), result.errors)
        }
    }
}

final class IdealEvaluationTests: XCTestCase {
    private func evaluate(_ set: String, _ options: String...) throws -> Tool.Result {
        try Tool.run(["evaluate", set, "--json"] + options + ShortDataSet.light)
    }

    func testIdealReadingsReplaceTheRecordedOnes() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let plain = try ShortDataSet.figures(evaluate(set).output)
        let one = try evaluate(set, "--ideal", "-j", "1")
        XCTAssertEqual(one.status, 0, one.errors)
        let ideal = try ShortDataSet.figures(one.output)
        XCTAssertEqual(ideal["n"] as? Int, plain["n"] as? Int)
        XCTAssertNotEqual(ideal["mean"] as? Double, plain["mean"] as? Double)
        XCTAssertEqual(one.output, try evaluate(set, "--ideal", "-j", "2").output)
        let other = try evaluate(set, "--ideal", "--seed", "1")
        XCTAssertNotEqual(one.output, other.output)
    }

    func testIdealCannotBeCombinedWithOfflineOrMotion() throws {
        for option in ["--offline", "--motion"] {
            let result = try Tool.run(["evaluate", "Fixtures/office", "--ideal", option])
            XCTAssertEqual(result.status, 2)
            XCTAssertTrue(result.errors.contains("--ideal can't be combined with --offline or --motion"), result.errors)
        }
    }
}

final class OfflineEvaluationTests: XCTestCase {
    func testOfflineAddsFiguresOfTheSameInstantsToThoseOfEvaluate() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let plain = try ShortDataSet.figures(Tool.run(["evaluate", set, "--json"] + ShortDataSet.light).output)
        let result = try Tool.run(["evaluate", set, "--json", "--offline"] + ShortDataSet.light)
        XCTAssertEqual(result.status, 0, result.errors)
        var both = try ShortDataSet.figures(result.output)
        let offline = try XCTUnwrap(both.removeValue(forKey: "offline") as? [String: Any])
        XCTAssertEqual(both as NSDictionary, plain as NSDictionary)
        XCTAssertEqual(Set(offline.keys), Set(plain.keys).subtracting(["dataset", "method"]))
        XCTAssertEqual(offline["n"] as? Int, plain["n"] as? Int)
        XCTAssertGreaterThan(try XCTUnwrap(offline["n"] as? Int), 0)
        XCTAssertEqual(offline["answered"] as? Double, 1)
        XCTAssertNotEqual(offline["mean"] as? Double, plain["mean"] as? Double)
    }

    func testOfflinePrintsTwoLinesIndependentOfTheNumberOfJobs() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let result = try Tool.run(["evaluate", set, "--offline", "-j", "1"] + ShortDataSet.light)
        XCTAssertEqual(result.status, 0, result.errors)
        let lines = result.output.split(separator: "\n")
        XCTAssertEqual(lines.count, 2)
        XCTAssertTrue(lines.first?.hasPrefix("set: n ") ?? false, result.output)
        XCTAssertTrue(lines.last?.hasPrefix("set offline: n ") ?? false, result.output)
        let two = try Tool.run(["evaluate", set, "--offline", "-j", "2"] + ShortDataSet.light)
        XCTAssertEqual(result.output, two.output)
    }

    func testOfflineRequiresTheParticleFilter() throws {
        let result = try Tool.run(["evaluate", "Fixtures/office", "--offline", "--method", "fingerprint"])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("--offline requires the method particle"), result.errors)
    }

    func testOfflineCannotBeCombinedWithReplays() throws {
        let result = try Tool.run(["evaluate", "Fixtures/office", "--offline", "--replays", temporaryFolder()])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("--offline can't be combined with --replays"), result.errors)
    }
}

/// `evaluate`, `rooms evaluate` and `plot error` on data sets that give no score.
final class MissingScoreTests: XCTestCase {
    private static let method = ["--method", "trilateration"]

    /// A data set of the office with a changed track, whose path is the second value.
    private func set(_ change: (inout [String]) -> Void) throws -> String {
        let folder = try temporaryFolder()
        let set = try ShortDataSet.write(to: folder)
        var track = try ShortRecording(lines: 250)
        change(&track.lines)
        _ = try track.write(to: set + "/tracks")
        return set
    }

    private func assertNoScore(_ set: String, _ reason: String, line: UInt = #line) throws {
        let figure = set + "/error.svg"
        for arguments in [
            ["evaluate", set], ["evaluate", set, "--json"], ["evaluate", set, "--report", set + "/reports"],
            ["plot", "error", set, "--output", figure],
        ] {
            let result = try Tool.run(arguments + Self.method)
            XCTAssertEqual(result.status, 1, "\(arguments)", line: line)
            XCTAssertEqual(result.output, "", "\(arguments)", line: line)
            XCTAssertTrue(result.errors.contains("indoorloc: set: \(reason)"), result.errors, line: line)
        }
        XCTAssertFalse(FileManager.default.fileExists(atPath: figure), line: line)
        XCTAssertFalse(FileManager.default.fileExists(atPath: set + "/reports/report-set.html"), line: line)
    }

    func testTracksWithoutGroundTruth() throws {
        let set = try set { $0.removeAll { $0.contains("\"truth\"") } }
        try assertNoScore(set, "the recordings have no ground truth: ")
    }

    func testTracksWhoseGroundTruthIsOnlyRooms() throws {
        let set = try set { lines in
            lines.removeAll { $0.contains("\"truth\"") }
            lines.append(#"{"t":60,"type":"truth","room":"kitchen","hold":true}"#)
        }
        try assertNoScore(set, "the recordings have no ground truth with a position: ")
    }

    func testTracksWithGroundTruthInAnotherVenue() throws {
        let set = try set { lines in
            lines = lines.map { $0.replacingOccurrences(of: "\"mapId\":1", with: "\"mapId\":77") }
        }
        try assertNoScore(
            set, "the recordings are of another venue: their ground truth is on maps 77, but 'Office' has maps 1, 2")
    }

    func testTracksThatEndBeforeTheFirstScoredInstant() throws {
        let set = try set { $0 = Array($0.prefix(2)) }
        try assertNoScore(set, "the recordings have no ground truth after the first 5 s")
    }

    func testTracksWithoutABeaconOfTheVenue() throws {
        let set = try set { lines in
            lines = lines.map {
                // A beacon is also recognised by its device address.
                $0.replacingOccurrences(of: "\"major\":[0-9]*", with: "\"major\":99", options: .regularExpression)
                    .replacingOccurrences(of: "C4:7C:8D", with: "C4:7C:99")
            }
        }
        try assertNoScore(set, "no position at any of the ")
        let result = try Tool.run(["evaluate", set] + Self.method)
        XCTAssertTrue(result.errors.contains("of which none belongs to 'Office'"), result.errors)
        let gateways = try Tool.run(["evaluate", set, "--gateways", "raw"])
        XCTAssertEqual(gateways.status, 1)
        XCTAssertTrue(gateways.errors.contains("the recordings have too few beacons of 'Office'"), gateways.errors)
    }

    func testTheOtherValuesOfAListAreScored() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let result = try Tool.run(["evaluate", set, "--shift=-60,0"] + Self.method)
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(result.lines.count, 1, result.output)
        XCTAssertTrue(result.output.hasPrefix("set 0.0 dB: n "), result.output)
        XCTAssertTrue(result.errors.contains("set, RSSI -60.0 dB: no position at any of the "), result.errors)
    }

    func testTracksWithoutMotionHaveNoScoreOfMotion() throws {
        let set = try set { $0.removeAll { $0.contains("\"motion\"") || $0.contains("\"step\"") } }
        let result = try Tool.run(["evaluate", set, "--motion"])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(result.output, "")
        XCTAssertTrue(result.errors.contains("set: no track has both motion and a ground truth"), result.errors)
    }
}

/// Settings of the measurement model that have no effect in a run, because the survey replaces them.
final class UselessSettingTests: XCTestCase {
    /// A radio map of the office, learned from a part of its survey, and a short walk.
    private func inputs() throws -> (map: String, walk: String) {
        let folder = try temporaryFolder()
        let map = folder + "/map.json"
        let survey = try Tool.run(
            ["survey", "--venue", "Fixtures/office", "-o", map]
                + ["ground-west", "upper-west"].map { "Fixtures/office/survey/\($0).jsonl" })
        XCTAssertEqual(survey.status, 0, survey.errors)
        return (map, try ShortRecording(lines: 120).write(to: folder))
    }

    private func replay(_ walk: String, _ options: [String]) throws -> Tool.Result {
        let result = try Tool.run(
            ["replay", "--venue", "Fixtures/office", walk] + options + ShortDataSet.light)
        XCTAssertEqual(result.status, 0, result.errors)
        return result
    }

    func testAnExponentThatTheSurveyReplacesIsNamed() throws {
        let (map, walk) = try inputs()
        let set = ["--set", "positioning.signal.pathLossExponent=3"]
        let surveyed = try replay(walk, set + ["--radio-map", map])
        let lines = surveyed.errors.split(separator: "\n")
        XCTAssertEqual(lines.count, 1, surveyed.errors)
        let prefix = "--set: positioning.signal.pathLossExponent has no effect in 'Office': the radio map gives "
        let line = try XCTUnwrap(lines.first.map(String.init))
        let value = try XCTUnwrap(line.firstRange(of: prefix).map { line[$0.upperBound...] }, line)
        XCTAssertNotNil(Double(value), line)
        XCTAssertLessThanOrEqual(value.count, "9.99".count, line)
        XCTAssertEqual(surveyed.output, try replay(walk, ["--radio-map", map]).output)
        let unsurveyed = try replay(walk, set)
        XCTAssertEqual(unsurveyed.errors, "")
    }

    func testASettingForSurveysIsNamedInAVenueWithoutOne() throws {
        let walk = try inputs().walk
        let result = try replay(walk, ["--set", "positioning.signal.unheardRate=0.2"])
        XCTAssertTrue(
            result.errors.contains("positioning.signal.unheardRate has no effect in 'Office': it has no radio map"),
            result.errors)
        XCTAssertEqual(result.output, try replay(walk, []).output)
    }

    func testEvaluateNamesASettingOnceWhateverItsConditions() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        try FileManager.default.createDirectory(atPath: set + "/survey", withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: FixtureFolder("office/survey").file("ground-west.jsonl"), toPath: set + "/survey/west.jsonl")
        let result = try Tool.run([
            "evaluate", set, "--method", "trilateration", "--shift=0,3", "--set",
            "positioning.signal.pathLossExponent=3",
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.lines.count, 2)
        XCTAssertEqual(
            result.errors.split(separator: "\n").count { $0.contains("pathLossExponent has no effect in 'Office'") }, 1,
            result.errors)
    }

    /// The judgement of each setting is compared with a run: without all settings that are named, the output is the same.
    func testTheNamedSettingsAndOnlyTheseHaveNoEffect() throws {
        let (map, walk) = try inputs()
        var changes: [String: String] = [:]
        for setting in SettingsStack().effective where setting.key.hasPrefix("positioning.signal.") {
            guard case .number(let value) = setting.value, value != 0 else { continue }
            let other = value == value.rounded() && abs(value) >= 10 ? value - 1 : value * 0.9
            var stack = SettingsStack()
            guard (try? stack.override(setting.key, .number(other))) != nil else { continue }
            changes[setting.key] = "\(setting.key)=\(other)"
        }
        XCTAssertGreaterThan(changes.count, 20)
        for options in [[], ["--radio-map", map]] {
            func result(_ changes: [String]) throws -> Tool.Result {
                try replay(walk, options + changes.sorted().flatMap { ["--set", $0] })
            }
            let all = try result(Array(changes.values))
            let named = changes.keys.filter { all.errors.contains("--set: \($0) has no effect") }
            XCTAssertGreaterThan(named.count, 1, all.errors)
            XCTAssertLessThan(named.count, changes.count / 2)
            let rest = changes.filter { !named.contains($0.key) }
            let without = try result(Array(rest.values))
            XCTAssertEqual(without.output, all.output, "\(named)")
            XCTAssertEqual(without.errors, "")
        }
    }
}
