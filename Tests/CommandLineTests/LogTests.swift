import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

@testable import indoorloc

/// The levels and the forms of the lines on standard error.
final class LogTests: XCTestCase {
    private let line = LogLine(
        text: "a \"quoted\"\nname=\\ and \u{1B}[31m", level: .warning,
        fields: [LogField("code", "network"), LogField("empty", ""), LogField("venue", 7)],
        traceID: TraceID(rawValue: 0x1F))
    private let time = Date(timeIntervalSince1970: 1_741_064_767.25)

    func testALogfmtLineHasQuotedValues() {
        XCTAssertEqual(
            line.rendered(as: .logfmt, at: time),
            #"time=2025-03-04T05:06:07.250Z level=warning msg="a \"quoted\"\nname=\\ and \u001b[31m" "#
                + #"code=network empty="" venue=7 trace=000000000000001f"# + "\n")
    }

    func testAJournalLineBeginsWithItsPriority() {
        XCTAssertEqual(
            LogLine(text: "ready", level: .error, fields: [LogField("code", "a b")]).rendered(as: .journald, at: time),
            "<3>ready code=\"a b\"\n")
        XCTAssertEqual(LogLevel.allCases.map(\.priority), [3, 4, 5, 6, 7])
        // A line feed would begin a second line without a priority.
        XCTAssertEqual(line.rendered(as: .journald, at: time).count { $0 == "\n" }, 1)
    }

    func testATextLineIsAsBefore() {
        XCTAssertEqual(
            LogLine(text: "session started", level: .info, traceID: TraceID(rawValue: 0x1F)).rendered(
                as: .text, at: time),
            "indoorloc: session started [trace 000000000000001f]\n")
    }

    /// The lines of a service with a walk of a few seconds.
    private func serve(_ words: String...) throws -> [String] {
        let options = [
            "--state-directory", try temporaryFolder(), "--set", "heartbeat.interval=0.5", "--once",
        ]
        let result = try Tool.run(["serve"] + ServiceProcess.walk("one-floor") + options + words)
        XCTAssertEqual(result.status, 0, result.errors)
        return result.errors.split(separator: "\n").map(String.init)
    }

    func testAServiceLogsItsStatesAsLogfmt() throws {
        let lines = try serve("--log-format", "logfmt")
        XCTAssertFalse(lines.isEmpty)
        for line in lines {
            XCTAssertNotNil(
                line.wholeMatch(
                    of:
                        #/time=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z level=(error|warning|notice|info) msg=.+ trace=[0-9a-f]{16}/#
                ),
                line)
        }
        XCTAssertTrue(lines.contains { $0.contains(#"level=info msg="session started" "#) }, "\(lines)")
        XCTAssertTrue(lines.contains { $0.contains(#"level=info msg="state localizationRunning" venue="#) }, "\(lines)")
        XCTAssertEqual(lines.count { $0.contains(#"msg="state getPacket""#) }, 1, "progress is no state: \(lines)")
    }

    func testTheLevelSelectsTheLines() throws {
        XCTAssertEqual(try serve("--log-level", "error"), [])
        let debug = try serve("--log-level", "debug", "--log-format", "journald")
        XCTAssertTrue(debug.contains { $0.hasPrefix("<7>position venue=") }, "\(debug)")
        XCTAssertTrue(debug.contains { $0.hasPrefix("<6>session started trace=") }, "\(debug)")
    }

    func testWithoutAnOptionAServiceLogsNoStates() throws {
        let lines = try serve()
        XCTAssertTrue(lines.allSatisfy { $0.hasPrefix("indoorloc: ") && !$0.contains("state ") }, "\(lines)")
        XCTAssertTrue(lines[0].hasPrefix("indoorloc: session started [trace "), lines[0])
    }

    func testAFailureIsLoggedInTheForm() throws {
        let words = ["serve", "--venue", "/nonexistent", "--replay", "/nonexistent", "--log-format", "journald"]
        let result = try Tool.run(words)
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.hasPrefix("<3>"), result.errors)
        XCTAssertFalse(result.errors.contains("indoorloc: "), result.errors)
    }

    func testAnUnknownLevelOrFormIsAUsageError() throws {
        for (words, message) in [
            (["--log-level", "loud"], "--log-level must be error, warning, notice, info or debug, not 'loud'"),
            (["--log-format", "xml"], "--log-format must be text, logfmt or journald, not 'xml'"),
        ] {
            for command in ["serve", "locate", "scan", "regions watch", "rooms watch", "share watch"] {
                let operand = command == "share watch" ? ["mqtt://localhost/a"] : []
                let result = try Tool.run(command.split(separator: " ").map(String.init) + operand + words)
                XCTAssertEqual(result.status, 2, command)
                XCTAssertEqual(
                    result.errors, "indoorloc \(command): \(message)\nTry 'indoorloc \(command) --help'.\n")
            }
        }
    }
}
