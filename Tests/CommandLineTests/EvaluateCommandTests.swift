import Foundation
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
