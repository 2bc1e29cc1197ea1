import Foundation
import IndoorLocalizationTesting
import XCTest

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
