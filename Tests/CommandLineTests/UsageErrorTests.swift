import XCTest

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
