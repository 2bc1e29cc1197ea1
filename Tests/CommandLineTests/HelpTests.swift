import IndoorLocalization
import XCTest

final class HelpTests: XCTestCase {
    /// Asserts that the command succeeds without errors, and prints the test's snapshot.
    private func assertPrints(_ arguments: String..., test: String = #function, line: UInt = #line) throws {
        let result = try Tool.run(arguments)
        XCTAssertEqual(result.status, 0, line: line)
        XCTAssertEqual(result.errors, "", line: line)
        try assertSnapshot(result.output, test: test, line: line)
    }

    func testHelpOfTheTool() throws { try assertPrints("--help") }
    func testHelpOfReplay() throws { try assertPrints("replay", "--help") }
    func testHelpOfView() throws { try assertPrints("view", "--help") }
    func testHelpOfEvaluate() throws { try assertPrints("evaluate", "--help") }
    func testHelpOfSurvey() throws { try assertPrints("survey", "--help") }
    func testHelpOfBeacons() throws { try assertPrints("beacons", "--help") }
    func testHelpOfPlotCoverage() throws { try assertPrints("plot", "coverage", "--help") }
    func testHelpOfPlot() throws { try assertPrints("plot", "--help") }
    func testHelpOfPlotTrack() throws { try assertPrints("plot", "track", "--help") }
    func testHelpOfPlotError() throws { try assertPrints("plot", "error", "--help") }
    func testHelpOfPlotResiduals() throws { try assertPrints("plot", "residuals", "--help") }
    func testHelpOfPlotRange() throws { try assertPrints("plot", "range", "--help") }
    func testHelpOfPlotRadioMap() throws { try assertPrints("plot", "radiomap", "--help") }
    func testHelpOfSimulate() throws { try assertPrints("simulate", "--help") }
    func testHelpOfConvert() throws { try assertPrints("convert", "--help") }
    func testHelpOfScan() throws { try assertPrints("scan", "--help") }
    func testHelpOfBench() throws { try assertPrints("bench", "--help") }
    func testHelpOfLocate() throws { try assertPrints("locate", "--help") }
    func testHelpOfTrack() throws { try assertPrints("track", "--help") }
    func testHelpOfHistory() throws { try assertPrints("history", "--help") }
    func testHelpOfHistoryVisits() throws { try assertPrints("history", "visits", "--help") }
    func testHelpOfHistoryDwell() throws { try assertPrints("history", "dwell", "--help") }
    func testHelpOfHistoryExport() throws { try assertPrints("history", "export", "--help") }
    func testHelpOfServe() throws { try assertPrints("serve", "--help") }
    func testHelpOfVenue() throws { try assertPrints("venue", "--help") }
    func testHelpOfVenueCheck() throws { try assertPrints("venue", "check", "--help") }
    func testHelpOfVenueInfo() throws { try assertPrints("venue", "info", "--help") }
    func testHelpOfVenueNew() throws { try assertPrints("venue", "new", "--help") }
    func testHelpOfVenueImport() throws { try assertPrints("venue", "import", "--help") }
    func testHelpOfVenueEdit() throws { try assertPrints("venue", "edit", "--help") }
    func testHelpOfVenueExport() throws { try assertPrints("venue", "export", "--help") }
    func testHelpOfVenueRoute() throws { try assertPrints("venue", "route", "--help") }
    func testHelpOfVenuePublish() throws { try assertPrints("venue", "publish", "--help") }
    func testHelpOfVenueFetch() throws { try assertPrints("venue", "fetch", "--help") }
    func testHelpOfRooms() throws { try assertPrints("rooms", "--help") }
    func testHelpOfRoomsTrain() throws { try assertPrints("rooms", "train", "--help") }
    func testHelpOfRoomsClassify() throws { try assertPrints("rooms", "classify", "--help") }
    func testHelpOfRoomsEvaluate() throws { try assertPrints("rooms", "evaluate", "--help") }
    func testHelpOfRoomsWatch() throws { try assertPrints("rooms", "watch", "--help") }
    func testHelpOfRegionsWatch() throws { try assertPrints("regions", "watch", "--help") }
    func testHelpOfShareWatch() throws { try assertPrints("share", "watch", "--help") }
    func testHelpOfShareForget() throws { try assertPrints("share", "forget", "--help") }
    func testHelpOfCompletion() throws { try assertPrints("completion", "--help") }
    func testHelpOfManual() throws { try assertPrints("manual", "--help") }
    func testHelpOfShareKeygen() throws { try assertPrints("share", "keygen", "--help") }

    func testTheToolPrintsTheVersionOfThePackage() throws {
        let result = try Tool.run(["--version"])
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(result.output, "indoorloc \(PackageVersion.current)\n")
    }

    func testHelpHasFourSpellings() throws {
        for (long, others) in [
            (["--help"], [["-h"], ["help"]]),
            (["replay", "--help"], [["replay", "-h"], ["help", "replay"], ["replay", "walk.jsonl", "--help"]]),
            (["venue", "--help"], [["venue", "-h"], ["help", "venue"]]),
            (["venue", "info", "--help"], [["venue", "info", "-h"], ["help", "venue", "info"]]),
        ] {
            let expected = try Tool.run(long).output
            for other in others { XCTAssertEqual(try Tool.run(other).output, expected, "\(other)") }
        }
    }

    private static let commands = [
        "replay", "view", "evaluate", "survey", "beacons", "plot track", "plot error", "plot residuals", "plot range",
        "plot radiomap", "plot coverage", "simulate", "convert", "bench", "locate", "serve", "track", "scan",
        "history visits", "history dwell", "history export",
        "venue check", "venue info", "venue new", "venue import", "venue edit", "venue export",
        "venue route", "venue publish", "venue fetch", "rooms train", "rooms classify", "rooms evaluate",
        "rooms watch", "regions watch",
        "config show", "config keys", "share watch", "share forget", "share keygen", "completion", "manual",
    ]

    func testTheHelpOfTheToolListsEveryCommand() throws {
        let help = try Tool.run(["--help"]).output
        for name in Self.commands { XCTAssertTrue(help.contains("\n  \(name) "), name) }
        let listed = help.split(separator: "\n").count { $0.hasPrefix("  ") }
        XCTAssertEqual(listed, Self.commands.count, "a command is missing in this test")
    }

    func testNoLineOfAHelpIsLongerThanAHundredColumns() throws {
        for name in Self.commands + ["", "venue", "history", "plot", "rooms", "regions", "config", "share"] {
            let help = try Tool.run(name.split(separator: " ").map(String.init) + ["--help"]).output
            XCTAssertTrue(help.hasPrefix("usage: "), name)
            for line in help.split(separator: "\n") { XCTAssertLessThanOrEqual(line.count, 100, "\(name): \(line)") }
        }
    }
}

/// Usage errors cause status 2, no output, and a message with the problem and the help command.
final class UsageErrorTests: XCTestCase {
    private func assertUsageError(
        _ arguments: [String], _ message: String, of command: String = "", line: UInt = #line
    ) throws {
        let result = try Tool.run(arguments)
        let name = command.isEmpty ? "indoorloc" : "indoorloc \(command)"
        XCTAssertEqual(result.status, 2, "\(arguments)", line: line)
        XCTAssertEqual(result.output, "", "\(arguments)", line: line)
        XCTAssertEqual(result.errors, "\(name): \(message)\nTry '\(name) --help'.\n", "\(arguments)", line: line)
    }

    func testAMissingCommandIsReported() throws { try assertUsageError([], "a command is missing") }

    func testAnUnknownCommandIsReported() throws {
        try assertUsageError(["teleport"], "unknown command 'teleport'")
        try assertUsageError(["help", "teleport"], "unknown command 'teleport'")
        try assertUsageError(["--teleport"], "unknown command '--teleport'")
    }

    func testAMisspelledCommandIsReportedWithTheNearest() throws {
        try assertUsageError(["repaly", "x"], "unknown command 'repaly'; did you mean 'replay'?")
        try assertUsageError(["venue", "chekc", "x"], "unknown command 'venue chekc'; did you mean 'venue check'?")
        try assertUsageError(["vneue", "check"], "unknown command 'vneue'; did you mean 'venue check'?")
        try assertUsageError(["vneue"], "unknown command 'vneue'; did you mean 'venue'?")
    }

    func testAGroupWithoutACommandIsReportedWithItsCommands() throws {
        let names = ["check", "info", "new", "import", "edit", "export", "route", "publish", "fetch"].map {
            "'venue \($0)'"
        }
        let advice = "; use " + names.joined(separator: " or ")
        let commands = "check, info, new, import, edit, export, route, publish or fetch"
        for words in [["venue"], ["venue", "--json"]] {
            try assertUsageError(words, "'venue' requires a command: \(commands)")
        }
        try assertUsageError(
            ["plot"], "'plot' requires a command: track, error, residuals, range, radiomap or coverage")
        try assertUsageError(["venue", "burn"], "unknown command 'venue burn'\(advice)")
    }

    func testAnUnknownOptionIsReportedAtAnyPlace() throws {
        try assertUsageError(["replay", "--loud"], "unknown option '--loud'", of: "replay")
        try assertUsageError(["replay", "--venue", "V", "-xl", "R"], "unknown option '-x'", of: "replay")
        try assertUsageError(["evaluate", "D", "-z"], "unknown option '-z'", of: "evaluate")
        try assertUsageError(["venue", "check", "V", "--all"], "unknown option '--all'", of: "venue check")
    }

    func testAnAmbiguousOptionIsReportedWithTheCandidates() throws {
        let message = "option '--r' is ambiguous: --radio-map or --replays or --report"
        try assertUsageError(["evaluate", "D", "--r", "x"], message, of: "evaluate")
    }

    func testAnOptionWithoutItsArgumentIsReported() throws {
        try assertUsageError(["replay", "R", "--venue"], "option '--venue' requires an argument", of: "replay")
        try assertUsageError(["evaluate", "D", "-j"], "option '-j' requires an argument", of: "evaluate")
    }

    func testAnUnexpectedArgumentIsReported() throws {
        try assertUsageError(
            ["replay", "--lenient=3", "R"], "option '--lenient' does not take an argument", of: "replay")
    }

    func testAMissingRequiredOptionIsReported() throws {
        try assertUsageError(["replay", "R"], "--venue is missing", of: "replay")
        try assertUsageError(["survey", "--venue", "V", "R"], "--output is missing", of: "survey")
        try assertUsageError(["simulate", "--venue", "V", "-o", "R"], "--path is missing", of: "simulate")
    }

    func testAMissingOperandIsReported() throws {
        try assertUsageError(["replay", "--venue", "V"], "RECORDING is missing", of: "replay")
        try assertUsageError(["survey", "--venue", "V", "-o", "M"], "RECORDING is missing", of: "survey")
        try assertUsageError(["evaluate"], "DATASET is missing", of: "evaluate")
        try assertUsageError(["venue", "check"], "V is missing", of: "venue check")
    }

    func testAnUnexpectedOperandIsReported() throws {
        try assertUsageError(["replay", "--venue", "V", "a", "b"], "unexpected operand 'b'", of: "replay")
        try assertUsageError(["simulate", "a"], "unexpected operand 'a'", of: "simulate")
        try assertUsageError(["venue", "info", "a", "--", "-b"], "unexpected operand '-b'", of: "venue info")
    }

    func testAnInvalidNumberIsReported() throws {
        let seed = "--seed must be a whole number from 0 to 18446744073709551615, not "
        for text in ["one", "-1", "1.5", "", "18446744073709551616"] {
            let arguments = ["replay", "--venue", "V", "--seed=\(text)", "R"]
            try assertUsageError(arguments, seed + "'\(text)'", of: "replay")
        }
        let jobs = "--jobs must be a whole number from 1 to 1024, not '0'"
        try assertUsageError(["evaluate", "D", "-j", "0"], jobs, of: "evaluate")
    }

    func testAnUnknownMethodIsReported() throws {
        let message = "--method must be one of particle, fingerprint, trilateration, not 'dice'"
        try assertUsageError(["replay", "--venue", "V", "--method", "dice", "R"], message, of: "replay")
    }

    func testAContradictionOfMethodAndSetIsReported() throws {
        for (setting, other) in [
            ("positioning.method=fingerprint", "fingerprint"), ("positioning.particleFilter=false", "fingerprint"),
        ] {
            let call = ["replay", "--venue", "V", "--set", setting, "--method", "particle", "R"]
            let message = "--method particle contradicts --set, which gives the method \"\(other)\""
            try assertUsageError(call, message, of: "replay")
        }
    }

    func testAnInvalidSatelliteReceiverIsReported() throws {
        for text in ["", "gps", "gpsd:", "gpsd:host:0", "gpsd:host:65536", "gpsd:::1", "gpsd:[::1"] {
            let message =
                "--gnss must be gpsd, gpsd:HOST or gpsd:HOST:PORT, with an IPv6 address in brackets, not '\(text)'"
            try assertUsageError(["locate", "--venue", "V", "--gnss", text], message, of: "locate")
        }
    }

    func testAnInvalidSettingOfTheSimulatorIsReported() throws {
        let call = ["simulate", "--venue", "V", "--path", "P", "-o", "R", "--set"]
        try assertUsageError(call + ["loud"], "--set must be NAME=VALUE, not 'loud'", of: "simulate")
        let notANumber = "--set radio.power must be a number, true or false, not 'high'"
        try assertUsageError(call + ["radio.power=high"], notANumber, of: "simulate")
        let outOfRange = "--set radio.power: is 9.0; expected -100.0 to -20.0."
        try assertUsageError(call + ["radio.power=9"], outOfRange, of: "simulate")
        let unknown = try Tool.run(call + ["radio.volume=9"])
        XCTAssertEqual(unknown.status, 2)
        XCTAssertTrue(unknown.errors.contains("radio.volume: no such setting"), unknown.errors)
        XCTAssertTrue(unknown.errors.contains("radio.power,"), unknown.errors)
        let near = "--set radio.walLoss: no such setting; did you mean radio.wallLoss?"
        try assertUsageError(call + ["radio.walLoss=9"], near, of: "simulate")
    }
}
