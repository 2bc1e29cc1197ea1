import Foundation
import IndoorLocalizationTesting
import XCTest

/// `evaluate` and `survey` report ground truth at places that the venue doesn't have.
final class MisplacedTruthTests: XCTestCase {
    private static let method = ["--method", "trilateration"]

    /// The number of ground truths in a short recording.
    private static let count = 18

    /// The short recording, with its ground truth on another map.
    private func onMap(_ map: Int) throws -> ShortRecording {
        var recording = try ShortRecording(lines: 250)
        recording.lines = recording.lines.map { $0.replacingOccurrences(of: "\"mapId\":1,", with: "\"mapId\":\(map),") }
        return recording
    }

    /// The short recording, with its ground truth in feet.
    private func inFeet() throws -> ShortRecording {
        var recording = try ShortRecording(lines: 250)
        recording.lines = try recording.lines.map { line in
            guard line.contains("\"truth\""),
                var object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            else { return line }
            for axis in ["x", "y"] { object[axis] = (object[axis] as? Double ?? 0) * 3.2808 }
            return String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        }
        return recording
    }

    /// A data set with a good track, and a survey of one good recording.
    private func set() throws -> String {
        let set = try ShortDataSet.write(to: temporaryFolder())
        try FileManager.default.createDirectory(atPath: set + "/survey", withIntermediateDirectories: true)
        _ = try ShortRecording(lines: 250).write(to: set + "/survey", as: "good.jsonl")
        return set
    }

    func testGroundTruthInItsPlaceIsNotReported() throws {
        let set = try set()
        let result = try Tool.run(["evaluate", set, "--json"] + ShortDataSet.light)
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(result.errors, "")
        XCTAssertNil(try ShortDataSet.figures(result.output)["truthsOutside"])
        XCTAssertNil(try ShortDataSet.figures(result.output)["truthsOnUnknownMaps"])
    }

    func testGroundTruthOfATrackOnAnUnknownMapIsReported() throws {
        let set = try set()
        let path = try onMap(7).write(to: set + "/tracks", as: "other.jsonl")
        let remark = "\(path): 18 ground truths on map 7, which 'Office' doesn't have (1, 2), were not used"
        for options in [ShortDataSet.light, Self.method, ["--gateways", "raw"], Self.method + ["--shift=0,1"]] {
            let result = try Tool.run(["evaluate", set, "--json"] + options)
            XCTAssertEqual(result.status, 0, result.errors)
            XCTAssertEqual(result.errors, "indoorloc: \(remark)\n", "\(options)")
            for line in result.lines.map(String.init) {
                let figures = try ShortDataSet.figures(line)
                XCTAssertEqual(figures["truthsOnUnknownMaps"] as? Int, Self.count, line)
                XCTAssertNil(figures["truthsOutside"], line)
            }
        }
        let plot = try Tool.run(["plot", "error", set, "--output", set + "/error.svg"] + Self.method)
        XCTAssertEqual(plot.status, 0, plot.errors)
        XCTAssertTrue(plot.errors.contains(remark), plot.errors)
    }

    func testGroundTruthOfASurveyOnAnUnknownMapIsReported() throws {
        let set = try set()
        let simple = ["--method", "knn,trilateration"]
        let before = try Tool.run(["evaluate", set] + simple).output
        let path = try onMap(7).write(to: set + "/survey", as: "other.jsonl")
        let remark =
            "indoorloc: \(path): 18 ground truths on map 7, which 'Office' doesn't have (1, 2), were not used\n"
        // Simple methods don't learn a radio map, and the seeds learn the same one again.
        for options in [ShortDataSet.light + ["--seeds", "0,1"], simple] {
            let result = try Tool.run(["evaluate", set] + options)
            XCTAssertEqual(result.status, 0, result.errors)
            XCTAssertEqual(result.errors, remark, "\(options)")
            if options == simple { XCTAssertEqual(result.output, before) }
        }
        let survey = [
            "survey", "--venue", set, "--overwrite", "--output", set + "/map.json", set + "/survey/good.jsonl",
        ]
        XCTAssertEqual(try Tool.run(survey).errors, "")
        XCTAssertEqual(try Tool.run(survey + [path]).errors, remark)
        // One recording has both.
        var mixed = try ShortRecording(lines: 250)
        mixed.lines += try onMap(9).lines.dropFirst().filter { $0.contains("\"truth\"") }.map {
            $0.replacing(/"t":[0-9.]+/, with: "\"t\":60")
        }
        let both = try mixed.write(to: set, as: "mixed.jsonl")
        XCTAssertEqual(
            try Tool.run(survey + [path, both]).errors,
            remark
                + "indoorloc: \(both): 18 ground truths on map 9, which 'Office' doesn't have (1, 2), were not used\n")
    }

    func testGroundTruthInFeetIsReportedWithTheFarthestPlace() throws {
        let set = try set()
        let track = try inFeet().write(to: set + "/tracks")
        let result = try Tool.run(["evaluate", set, "--json"] + Self.method)
        XCTAssertEqual(result.status, 0)
        let remark = try XCTUnwrap(
            result.errors.wholeMatch(
                of:
                    /indoorloc: (.*): (\d+) of 18 ground truths on map 1 lie outside its plan of 36.0 × 20.0 m, the farthest at x [\d.]+, y 52.5; check that x and y are metres from the plan's top-left corner\n/
            ), result.errors)
        XCTAssertEqual(String(remark.1), track)
        XCTAssertEqual(try ShortDataSet.figures(result.output)["truthsOutside"] as? Int, Int(remark.2))
        XCTAssertEqual(Int(remark.2), Self.count)
        let survey = try Tool.run(["survey", "--venue", set, "--output", set + "/map.json", track])
        XCTAssertEqual(survey.status, 0)
        XCTAssertEqual(survey.errors, result.errors)
        let motion = try Tool.run(["evaluate", set, "--motion"])
        XCTAssertEqual(motion.errors, result.errors)
        _ = try onMap(7).write(to: set + "/tracks")
        let elsewhere = try Tool.run(["evaluate", set, "--motion"])
        XCTAssertEqual(elsewhere.status, 1)
        XCTAssertTrue(elsewhere.errors.contains("18 ground truths on map 7"), elsewhere.errors)
    }

    /// People walk along the edge of a plan, and ground truth has errors.
    func testGroundTruthWithinAMetreOfThePlanIsNotReported() throws {
        let set = try set()
        var track = try ShortRecording(lines: 250)
        track.lines.append(#"{"t":60,"type":"truth","mapId":1,"x":-0.9,"y":10}"#)
        track.lines.append(#"{"t":61,"type":"truth","mapId":1,"x":10,"y":20.9}"#)
        _ = try track.write(to: set + "/tracks")
        XCTAssertEqual(try Tool.run(["evaluate", set] + Self.method).errors, "")
        track.lines.append(#"{"t":62,"type":"truth","mapId":1,"x":10,"y":21.1}"#)
        let path = try track.write(to: set + "/tracks")
        let result = try Tool.run(["evaluate", set] + Self.method)
        XCTAssertTrue(
            result.errors.hasPrefix("indoorloc: \(path): 1 of 21 ground truths on map 1 lies outside its plan"),
            result.errors)
    }

    func testManyRecordingsAreOneLine() throws {
        let set = try set()
        let paths = try (1...5).map { try onMap(7).write(to: set + "/survey", as: "other\($0).jsonl") }
        var without = try ShortRecording(lines: 60)
        without.lines.removeAll { $0.contains("\"truth\"") }
        let silent = try (1...2).map { try without.write(to: set + "/survey", as: "silent\($0).jsonl") }
        let result = try Tool.run(["evaluate", set] + ShortDataSet.light)
        XCTAssertEqual(
            result.errors,
            "indoorloc: \(silent[0]), \(silent[1]) have no ground truth with a position and were not used\n"
                + "indoorloc: \(paths[0]), \(paths[1]), \(paths[2]) and 2 other recordings: 90 ground truths on map 7, which "
                + "'Office' doesn't have (1, 2), were not used\n")
    }
}
