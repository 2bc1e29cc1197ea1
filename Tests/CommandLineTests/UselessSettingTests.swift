import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

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
        XCTAssertTrue(
            surveyed.errors.contains(
                "--set: positioning.signal.pathLossExponent has no effect in 'Office': the radio map gives "),
            surveyed.errors)
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
