import Foundation
import IndoorLocalizationTesting
import XCTest

/// `evaluate` under conditions that differ from the recorded ones.
final class EvaluationConditionOptionTests: XCTestCase {
    func testEvaluatePrintsOneLineForEachShift() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let plain = try evaluate(set)
        let result = try evaluate(set, "--shift", "-15,0,7.5")
        let lines = result.output.split(separator: "\n").map(String.init)
        XCTAssertEqual(lines.count, 3)
        for (line, shift) in zip(lines, ["-15.0", "0.0", "7.5"]) {
            XCTAssertTrue(line.hasPrefix("set \(shift) dB: n "), line)
        }
        // A shift of 0 dB changes nothing.
        XCTAssertEqual(plain.output, lines[1].replacing("set 0.0 dB", with: "set") + "\n")
        XCTAssertNotEqual(lines[0].split(separator: ":").last, lines[1].split(separator: ":").last)
    }

    func testJSONHasTheShiftIfItIsGiven() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let plain = try ShortDataSet.figures(evaluate(set, "--json").output)
        XCTAssertNil(plain["shift"])
        XCTAssertEqual(try evaluate(set, "--json", "--shift", "0").output, try evaluate(set, "--json").output)
        let lines = try evaluate(set, "--json", "--shift=-10,10").output.split(separator: "\n")
        let shifted = try lines.map { try ShortDataSet.figures(String($0)) }
        XCTAssertEqual(shifted.map { $0["shift"] as? Double }, [-10, 10])
        for figures in shifted { XCTAssertEqual(figures["n"] as? Int, plain["n"] as? Int) }
    }

    func testOfflineLinesHaveTheShift() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let lines = try evaluate(set, "--offline", "--shift", "-6").output.split(separator: "\n").map(String.init)
        XCTAssertEqual(lines.count, 2)
        XCTAssertTrue(lines.first?.hasPrefix("set -6.0 dB: n ") ?? false, "\(lines)")
        XCTAssertTrue(lines.last?.hasPrefix("set -6.0 dB offline: n ") ?? false, "\(lines)")
    }

    func testWithoutMotionNoSampleIsUsed() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let removed = try evaluate(set, "--without", "motion")
        XCTAssertNotEqual(removed.output, try evaluate(set).output)
        // The result equals that of a recording without motion.
        var recording = try ShortRecording(lines: 250)
        recording.lines.removeAll { line in
            ["motion", "step", "pressure"].contains { line.contains("\"type\":\"\($0)\"") }
        }
        XCTAssertLessThan(recording.lines.count, 251)
        _ = try recording.write(to: set + "/tracks")
        let never = try ShortDataSet.figures(evaluate(set, "--json").output)
        let without = try ShortDataSet.figures(evaluate(set, "--json", "--without", "motion").output)
        XCTAssertEqual(without as NSDictionary, never as NSDictionary)
    }

    func testWithoutSurveyNoSurveyRecordingIsUsed() throws {
        let (plain, surveyed) = (try ShortDataSet.write(to: temporaryFolder()), try surveyedSet())
        let bare = try evaluate(plain).output
        XCTAssertNotEqual(try evaluate(surveyed).output, bare)
        XCTAssertEqual(try evaluate(surveyed, "--without", "survey").output, bare)
        XCTAssertEqual(
            try evaluate(surveyed, "--without", "motion,survey").output,
            try evaluate(plain, "--without", "motion").output)
    }

    func testEvaluateLearnsFromAShareOfTheSurvey() throws {
        let set = try surveyedSet()
        let whole = try evaluate(set).output
        XCTAssertEqual(try evaluate(set, "--survey-share", "1").output, whole)
        let half = try evaluate(set, "--survey-share", "0.5").output
        XCTAssertNotEqual(half, whole)
        XCTAssertEqual(try evaluate(set, "--survey-share", "0.5").output, half, "equal seeds give the same")
    }

    /// A recording of the same survey without its weakest readings gives the same figures.
    func testASurveyIsDeafToItsWeakestReadings() throws {
        let set = try surveyedSet()
        let lines = try evaluate(set, "--survey-deaf", "0,0.6").output.split(separator: "\n").map(String.init)
        XCTAssertEqual(lines.count, 2)
        XCTAssertEqual(lines[0] + "\n", try evaluate(set).output)
        XCTAssertTrue(lines[1].hasPrefix("set survey deaf 0.60: n "), lines[1])
        let figures = lines.map { $0.split(separator: ":").last }
        XCTAssertNotEqual(figures[0], figures[1])
        let json = try ShortDataSet.figures(evaluate(set, "--json", "--survey-deaf", "0.6").output)
        XCTAssertEqual(json["surveyDeaf"] as? Double, 0.6)
    }

    func testATrackIsDeafToItsWeakestReadings() throws {
        let set = try surveyedSet()
        let result = try evaluate(set, "--deaf", "0.5", "--shift=-3,3")
        let lines = result.output.split(separator: "\n").map(String.init)
        XCTAssertEqual(lines.count, 2)
        for (line, shift) in zip(lines, ["-3.0", "3.0"]) {
            XCTAssertTrue(line.hasPrefix("set deaf 0.50 \(shift) dB: n "), line)
        }
        // The result equals that of a recording without the weakest half.
        var whole = try ShortDataSet.figures(evaluate(set, "--deaf", "0.5", "--json").output)
        XCTAssertEqual(whole.removeValue(forKey: "deaf") as? Double, 0.5)
        var recording = try ShortRecording(lines: 250)
        let levels = recording.lines.compactMap(Self.rssi).sorted()
        let weakest = levels[levels.count / 2]
        recording.lines.removeAll { Self.rssi($0).map { $0 < weakest } ?? false }
        _ = try recording.write(to: set + "/tracks")
        let cut = try ShortDataSet.figures(evaluate(set, "--json").output)
        XCTAssertEqual(whole as NSDictionary, cut as NSDictionary)
    }

    /// Returns the RSSI in a line of a recording; nil if the line has none.
    private static func rssi(_ line: String) -> Double? {
        let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return object?["rssi"] as? Double
    }

    func testAnInvalidConditionIsAUsageError() throws {
        for option in ["--survey-deaf", "--deaf"] {
            for (text, word) in [("1", "1"), ("-0.1", "-0.1"), ("0.2,", ""), ("half", "half"), ("nan", "nan")] {
                try assertUsageError(
                    "\(option)=\(text)", "\(option) must be a number at least 0 and below 1, not '\(word)'")
            }
        }
        let shift = "--shift must be a number of decibels from -60 to 60, not "
        for (text, word) in [("loud", "loud"), ("", ""), ("1,,2", ""), ("61", "61"), ("nan", "nan"), ("-61,0", "-61")] {
            try assertUsageError("--shift=\(text)", shift + "'\(word)'")
        }
        for (text, word) in [("radio", "radio"), ("motion,plan", "plan"), ("Motion", "Motion")] {
            try assertUsageError("--without=\(text)", "--without must be motion or survey, not '\(word)'")
        }
        let share = "--survey-share must be a number above 0 and at most 1, not "
        for text in ["0", "-0.5", "1.01", "half", "nan", ""] {
            try assertUsageError("--survey-share=\(text)", share + "'\(text)'")
        }
    }

    func testAnEmptyWithoutIsAUsageError() throws {
        for text in ["", "motion,"] {
            try assertUsageError("--without=\(text)", "--without must be motion or survey, not ''")
        }
    }

    /// Replay files are named by track, so that each shift would replace the files of the one before.
    func testReplaysWithSeveralShiftsAreAUsageError() throws {
        let folder = try temporaryFolder()
        let set = try ShortDataSet.write(to: folder)
        let result = try Tool.run(["evaluate", set, "--shift", "-6,6", "--replays", folder + "/replays"])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("--replays"), result.errors)
    }

    /// The evaluation of motion alone uses neither beacons nor a survey.
    func testMotionWithConditionsIsAUsageError() throws {
        for option in ["--shift=3", "--without=motion", "--survey-share=0.5", "--deaf=0.5", "--survey-deaf=0.5"] {
            let result = try Tool.run(["evaluate", "Fixtures/office", "--motion", option])
            XCTAssertEqual(result.status, 2, option)
            XCTAssertTrue(result.errors.contains("--motion"), result.errors)
        }
    }

    private func evaluate(_ arguments: String...) throws -> Tool.Result {
        let result = try Tool.run(["evaluate"] + arguments + ShortDataSet.light)
        XCTAssertEqual(result.status, 0, "\(arguments): \(result.errors)")
        XCTAssertEqual(result.errors, "", "\(arguments)")
        return result
    }

    private func assertUsageError(_ argument: String, _ message: String, line: UInt = #line) throws {
        let result = try Tool.run(["evaluate", "Fixtures/office", argument])
        XCTAssertEqual(result.status, 2, argument, line: line)
        XCTAssertEqual(result.output, "", argument, line: line)
        let advice = "Try 'indoorloc evaluate --help'.\n"
        XCTAssertEqual(result.errors, "indoorloc evaluate: \(message)\n\(advice)", argument, line: line)
    }

    /// The short data set with the survey of its floor.
    private func surveyedSet() throws -> String {
        let set = try ShortDataSet.write(to: temporaryFolder())
        try FileManager.default.createDirectory(atPath: set + "/survey", withIntermediateDirectories: false)
        for name in ["ground-east.jsonl", "ground-west.jsonl"] {
            let recording = try FixtureFolder("office/survey").file(name)
            try FileManager.default.createSymbolicLink(
                atPath: set + "/survey/" + name, withDestinationPath: recording)
        }
        return set
    }
}
