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
        "replay", "view", "evaluate", "survey", "plot track", "plot error", "plot residuals", "plot range",
        "plot radiomap", "plot coverage", "simulate", "convert", "bench", "locate", "serve", "track", "scan",
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
        for name in Self.commands + ["", "venue", "plot", "rooms", "regions", "config", "share"] {
            let help = try Tool.run(name.split(separator: " ").map(String.init) + ["--help"]).output
            XCTAssertTrue(help.hasPrefix("usage: "), name)
            for line in help.split(separator: "\n") { XCTAssertLessThanOrEqual(line.count, 100, "\(name): \(line)") }
        }
    }
}
