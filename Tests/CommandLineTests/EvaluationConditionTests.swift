import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest
@testable import indoorloc

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

/// The changes of `evaluate` to recorded data.
final class EvaluationConditionsTests: XCTestCase {
    private static let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
    private static let surveys = (0..<10).map { "survey/\($0).jsonl" }

    func testAShiftIsAddedToEachSighting() {
        var conditions = EvaluationConditions()
        conditions.shift = -15
        XCTAssertEqual(conditions.adapted(Self.sighting(-60)), Self.sighting(-75))
        // An RSSI of 127 is not a measurement.
        XCTAssertEqual(conditions.adapted(Self.sighting(127)), Self.sighting(127))
    }

    func testWithoutConditionsReadingsStayAsRecorded() {
        let conditions = EvaluationConditions()
        for reading in Self.readings { XCTAssertEqual(conditions.adapted(reading), reading) }
        XCTAssertEqual(conditions.kept(Self.surveys, seed: 1), Self.surveys)
    }

    func testWithoutMotionOnlyMotionIsRemoved() {
        var conditions = EvaluationConditions()
        conditions.without = [.motion]
        XCTAssertEqual(Self.readings.map { conditions.adapted($0) != nil }, [true, false, false, false, true])
        XCTAssertEqual(conditions.kept(Self.surveys, seed: 1), Self.surveys)
    }

    func testWithoutSurveyRecordingsAndRadioMapAreRemoved() {
        var conditions = EvaluationConditions()
        conditions.without = [.survey]
        XCTAssertEqual(conditions.kept(Self.surveys, seed: 1), [])
        var venue = Venue(id: 1, name: "hall", maps: [], beacons: [])
        venue.radioMap = RadioMap(beacons: [], fingerprints: [], pathLossExponent: 2)
        XCTAssertNil(conditions.adapted(venue).radioMap)
        XCTAssertNotNil(EvaluationConditions().adapted(venue).radioMap)
        for reading in Self.readings { XCTAssertEqual(conditions.adapted(reading), reading) }
    }

    func testAShareOfTheSurveyKeepsThatManyRecordingsInOrder() {
        for (share, count) in [(1.0, 10), (0.5, 5), (0.24, 2), (0.01, 1)] {
            var conditions = EvaluationConditions()
            conditions.surveyShare = share
            for seed in UInt64(1)...4 {
                let kept = conditions.kept(Self.surveys, seed: seed)
                XCTAssertEqual(kept.count, count, "\(share), seed \(seed)")
                XCTAssertEqual(kept, Self.surveys.filter(kept.contains))
                XCTAssertEqual(kept, conditions.kept(Self.surveys, seed: seed), "equal seeds choose the same")
            }
            XCTAssertEqual(conditions.kept([], seed: 1), [])
        }
    }

    func testAReceiverIsDeafToTheWeakestReadings() {
        let levels = (1...10).map { -50 - Double($0) }
        XCTAssertEqual(EvaluationConditions.weakestKept(of: levels, deafness: 0.3), -57)
        XCTAssertEqual(EvaluationConditions.weakestKept(of: levels, deafness: 0), -.infinity)
        XCTAssertEqual(EvaluationConditions.weakestKept(of: [], deafness: 0.3), -.infinity)
        var conditions = EvaluationConditions()
        (conditions.weakestKept, conditions.shift) = (-57, 10)
        // The receiver is deaf before its level is shifted.
        XCTAssertEqual(conditions.adapted(Self.sighting(-57)), Self.sighting(-47))
        XCTAssertNil(conditions.adapted(Self.sighting(-57.5)))
        XCTAssertEqual(conditions.adapted(Self.sighting(127)), Self.sighting(127))
    }

    func testDifferentSeedsKeepDifferentRecordings() {
        var conditions = EvaluationConditions()
        conditions.surveyShare = 0.5
        XCTAssertGreaterThan(Set((UInt64(0)..<20).map { conditions.kept(Self.surveys, seed: $0) }).count, 5)
    }

    private static func sighting(_ rssi: Double) -> SensorReading {
        .sighting(Sighting(instant: .zero, beacon: beacon, rssi: rssi))
    }

    /// A sighting, motion readings, and a fix.
    private static let readings: [SensorReading] = [
        sighting(-60), .motion(MotionSample(instant: .zero, acceleration: Vector3(x: 0, y: 0, z: 9.8))),
        .step(Step(instant: .zero, length: 0.7, heading: 90)),
        .pressure(PressureSample(instant: .zero, hectopascals: 1000)),
        .fix(Fix(instant: .zero, mapID: 1, point: MapPoint(x: 1, y: 2), radius: 1)),
    ]
}

/// `evaluate --disturb`: faults of beacons and attacks on the radio.
final class DisturbanceOptionTests: XCTestCase {
    private static let forms = [
        "clone=COUNT,LEVELdBm[,RATE/s][,otherFloor]", "moved=SHARE,DISTANCEm", "exchanged=SHARE", "dead=SHARE",
        "power=DIFFERENCE[,SHARE]", "replay", "flood=RATE/s",
    ]
    private static let faultKeys = [
        "disturbedBeacons", "namedInMinute", "receivedDisturbedBeacons", "named", "falseAlarms", "hours",
    ]

    /// The office without a survey, and the first lines of a walk of 58 s; a hundred lines are about seven seconds.
    private func set(lines: Int = 100) throws -> String {
        let set = try ShortDataSet.write(to: temporaryFolder())
        _ = try ShortRecording(lines: lines).write(to: set + "/tracks")
        return set
    }

    private func evaluate(_ arguments: String...) throws -> String {
        let result = try Tool.run(["evaluate"] + arguments + ["--set", "positioning.particleCount=100"])
        XCTAssertEqual(result.status, 0, "\(arguments): \(result.errors)")
        XCTAssertEqual(result.errors, "", "\(arguments)")
        return result.output
    }

    private func assertUsageError(_ arguments: [String], _ words: String, line: UInt = #line) throws {
        let result = try Tool.run(["evaluate", "Fixtures/office"] + arguments)
        XCTAssertEqual(result.status, 2, "\(arguments)", line: line)
        XCTAssertEqual(result.output, "", "\(arguments)", line: line)
        XCTAssertTrue(result.errors.hasPrefix("indoorloc evaluate: \(words)"), result.errors, line: line)
        XCTAssertTrue(result.errors.hasSuffix("\nTry 'indoorloc evaluate --help'.\n"), result.errors, line: line)
    }

    func testACloneIsNamedAndMovesPositionsUnlessBeaconsAreTested() throws {
        let set = try set(lines: 1_000)
        func figures(_ options: String...) throws -> [String: Any] {
            let result = try Tool.run(["evaluate", set, "--json", "--seed", "2"] + options)
            XCTAssertEqual(result.status, 0, result.errors)
            return try ShortDataSet.figures(result.output)
        }
        let clean = try figures()
        XCTAssertEqual(Self.faultKeys.filter { clean[$0] != nil }, [])
        let tested = try figures("--disturb", "clone=1,-50dBm", "--set", "positioning.testedBeacons=all")
        XCTAssertEqual(Self.faultKeys.filter { tested[$0] == nil }, [])
        XCTAssertEqual(tested["receivedDisturbedBeacons"] as? Int, 1)
        XCTAssertEqual(tested["named"] as? Double, 1)
        XCTAssertEqual(tested["falseAlarms"] as? Int, 0)
        // The walk is shorter than the minute of hearing in which a beacon is to be named.
        XCTAssertEqual(tested["disturbedBeacons"] as? Int, 0)
        XCTAssertTrue(tested["namedInMinute"] is NSNull, "\(tested)")
        XCTAssertEqual(try XCTUnwrap(tested["hours"] as? Double) * 3600, 58.5, accuracy: 0.5)
        let believed = try figures("--disturb", "clone=1,-50dBm", "--set", "positioning.testedBeacons=none")
        XCTAssertEqual(believed["receivedDisturbedBeacons"] as? Int, 1)
        XCTAssertEqual(believed["named"] as? Double, 0)
        let means = try [clean, tested, believed].map { try XCTUnwrap($0["mean"] as? Double) }
        // Measured: 1.06, 0.89 and 4.64 m.
        XCTAssertLessThan(means[1], 1.3 * means[0])
        XCTAssertGreaterThan(means[2], 2.5 * means[0])
        XCTAssertEqual(Set([clean, tested, believed].map { $0["n"] as? Int }).count, 1)
    }

    func testTheSeedSelectsTheDisturbedBeacons() throws {
        let set = try set()
        // Trilateration uses no random numbers of its own.
        func output(_ seed: String, _ options: String...) throws -> String {
            let result = try Tool.run(
                ["evaluate", set, "--json", "--method", "trilateration", "--seed", seed] + options)
            XCTAssertEqual(result.status, 0, result.errors)
            return result.output
        }
        XCTAssertEqual(try output("1"), try output("2"))
        let first = try output("1", "--disturb", "exchanged=0.2")
        XCTAssertEqual(try output("1", "--disturb", "exchanged=0.2"), first)
        XCTAssertNotEqual(try output("2", "--disturb", "exchanged=0.2"), first)
    }

    func testEachDocumentedFormIsAccepted() throws {
        let set = try set()
        let clean = try ShortDataSet.figures(evaluate(set, "--json"))
        // The numbers of disturbed beacons that the walk receives.
        for (form, count) in [
            ("dead=0.3;power=+6", 13), ("moved=0.2,10m", 4), ("exchanged=0.2", 4), ("replay", 0), ("flood=500/s", 0),
            ("clone=1,-50dBm,otherFloor", 1), ("clone=2,-50dBm,5/s,otherFloor", 2), ("power=-6dB,0.5", 10),
        ] {
            let figures = try ShortDataSet.figures(evaluate(set, "--json", "--disturb", form))
            XCTAssertEqual(Self.faultKeys.filter { figures[$0] == nil }, [], form)
            XCTAssertEqual(figures["receivedDisturbedBeacons"] as? Int, count, form)
            XCTAssertEqual(figures["n"] as? Int, clean["n"] as? Int, form)
            let isSame = figures["mean"] as? Double == clean["mean"] as? Double
            XCTAssertEqual(isSame, form == "flood=500/s", "\(form): only foreign beacons change no position")
        }
    }

    func testATextLineHasTheNamedBeaconsAndFalseAlarms() throws {
        let set = try set()
        let clean = try evaluate(set)
        XCTAssertEqual(clean.split(separator: "\n").count, 1)
        let lines = try evaluate(set, "--disturb", "dead=0").split(separator: "\n").map(String.init)
        XCTAssertEqual(lines.count, 2, "\(lines)")
        XCTAssertEqual(lines.first.map { $0 + "\n" }, clean, "no beacon is disturbed")
        XCTAssertEqual(
            lines.last,
            "set faults: named 0 of 0 disturbed beacons, and - of 0 within the first minute of hearing; "
                + "0 false alarms in 0.00 h")
    }

    func testAnInvalidDisturbanceIsAUsageErrorWithTheForms() throws {
        let advice = "; use " + Self.forms.joined(separator: " or ") + "\n"
        for (text, reason, part) in [
            ("burnt=1", "unknown disturbance 'burnt'", "burnt=1"), ("", "unknown disturbance ''", ""),
            ("dead=0.1;", "unknown disturbance ''", ""), ("dead=0.1;burnt", "unknown disturbance 'burnt'", "burnt"),
            ("clone", "a number is missing", "clone"), ("clone=1", "a number is missing", "clone=1"),
            ("clone=0,-50dBm", "0 is not within 1.0 and 1000.0", "clone=0,-50dBm"),
            ("clone=1.5,-50dBm", "the count must be a whole number", "clone=1.5,-50dBm"),
            ("clone=1,50dBm", "50dBm is not within -127.0 and -1.0", "clone=1,50dBm"),
            ("clone=1,-50dBm,otherfloor", "unexpected 'otherfloor'", "clone=1,-50dBm,otherfloor"),
            ("moved=0.2", "a number is missing", "moved=0.2"),
            ("moved=1.2,10m", "1.2 is not within 0.0 and 1.0", "moved=1.2,10m"),
            ("moved=0.2,10km", "a number is missing", "moved=0.2,10km"),
            ("exchanged", "a number is missing", "exchanged"),
            ("dead=-0.1", "-0.1 is not within 0.0 and 1.0", "dead=-0.1"),
            ("power=loud", "a number is missing", "power=loud"),
            ("power=+61", "+61 is not within -60.0 and 60.0", "power=+61"), ("replay=1", "unexpected '1'", "replay=1"),
            ("flood=0/s", "0/s is not within 0.01 and 100000.0", "flood=0/s"),
            ("flood=nan", "nan is not within 0.01 and 100000.0", "flood=nan"),
        ] {
            try assertUsageError(["--disturb", text], "--disturb: \(reason) in '\(part)'\(advice)")
        }
    }

    func testADisturbanceIsNotCombinedWithOtherData() throws {
        let folder = try temporaryFolder()
        for option in [["--ideal"], ["--report", folder + "/reports"]] {
            try assertUsageError(
                option + ["--disturb", "replay"], "--disturb can't be combined with --ideal or --report\n")
        }
        try assertUsageError(
            ["--motion", "--disturb", "replay"],
            "--motion can't be combined with --shift, --deaf, --survey-deaf, --without, --survey-share or --disturb\n")
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), [])
    }
}
