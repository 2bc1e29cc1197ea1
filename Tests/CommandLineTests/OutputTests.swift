import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest
@testable import indoorloc

/// Failures of standard output and standard error.
final class OutputTests: XCTestCase {
    private func replay() throws -> [String] {
        ["replay", "--venue", "Fixtures/office", try ShortRecording(lines: 60).write(to: temporaryFolder())]
    }

    func testAFullDiskIsAFailureWithAMessage() throws {
        let map = try temporaryFolder() + "/map.json"
        for arguments in [
            try replay(), ["--help"], ["--version"], ["venue", "info", "Fixtures/office"],
            ["survey", "--venue", "Fixtures/office", "-o", map, "Fixtures/office/survey/ground-west.jsonl"],
        ] {
            let result = try Tool.run(arguments, device: "/dev/full")
            XCTAssertEqual(result.status, 1, "\(arguments)")
            XCTAssertEqual(result.errors, "indoorloc: standard output: No space left on device\n", "\(arguments)")
        }
    }

    func testAnErrorWithAClosedStandardErrorKeepsItsStatus() throws {
        XCTAssertEqual(try Tool.run(["locate"], errorDevice: "/dev/full").status, 2)
        XCTAssertEqual(try Tool.run(["venue", "info", "/missing"], errorDevice: "/dev/full").status, 1)
    }

    func testAReaderThatClosesThePipeEndsTheToolWithoutAnError() throws {
        // The output exceeds the pipe's capacity, so that the tool writes after the reader has closed it.
        let recording = "Fixtures/office/tracks/upper.jsonl"
        let arguments = ["replay", "--venue", "Fixtures/office", recording]
        let result = try Tool.run(arguments, closesEarly: true)
        XCTAssertEqual(result.output, "{")
        XCTAssertEqual(result.errors, "")
        XCTAssertTrue([0, 128 + SIGPIPE].contains(result.status), "\(result.status)")
    }

    func testAFileInAMissingFolderIsNamedWithTheReason() throws {
        let folder = try temporaryFolder() + "/missing"
        let track = "Fixtures/office/survey/ground-west.jsonl"
        for arguments in [
            ["survey", "--venue", "Fixtures/office", "--output", folder + "/map.json", track],
            [
                "simulate", "--venue", "Fixtures/office", "--path", "Fixtures/office/paths/stairs.json", "--output",
                folder + "/walk.jsonl",
            ],
        ] {
            let result = try Tool.run(arguments)
            XCTAssertEqual(result.status, 1, "\(arguments)")
            XCTAssertTrue(result.errors.contains(folder), result.errors)
            XCTAssertTrue(result.errors.contains("cannot be written"), result.errors)
            XCTAssertFalse(result.errors.contains("NSCocoaErrorDomain"), result.errors)
        }
    }
}

/// Commands never destroy their inputs or existing files.
final class OutputFileTests: XCTestCase {
    private let venue = ["--venue", "Fixtures/office"]

    /// Command lines of every command that writes a file, with the output last.
    private func calls(_ folder: String) throws -> [[String]] {
        let walk = try ShortRecording(lines: 60).write(to: folder, as: "walk.jsonl")
        return [
            ["replay"] + venue + ShortDataSet.light + [walk, "--geojson"],
            ["survey"] + venue + ["Fixtures/office/survey/ground-west.jsonl", "-o"],
            ["simulate"] + venue + ["--path", "Fixtures/office/paths/track-upper.json", "-o"],
            ["convert", walk],
            ["venue", "export", "Fixtures/office", "-o"],
            ["venue", "import", "Fixtures/imdf/museum", "-o", folder + "/museum", "--report"],
            ["rooms", "train", "--room", "hall", walk, "-o"],
        ]
    }

    func testAnExistingFileIsKeptUnlessOverwriteIsGiven() throws {
        for (index, call) in try calls(temporaryFolder()).enumerated() {
            let folder = try temporaryFolder()
            let file = folder + "/there-\(index).jsonl"
            let before = Data("precious\n".utf8)
            try before.write(to: URL(filePath: file))
            let refused = try Tool.run(call + [file])
            XCTAssertEqual(refused.status, 1, "\(call)")
            XCTAssertEqual(refused.output, "", "\(call)")
            XCTAssertTrue(refused.errors.contains("\(file) already exists"), refused.errors)
            XCTAssertTrue(refused.errors.contains("--overwrite"), refused.errors)
            XCTAssertEqual(try bytes(file), before, "\(call)")
            let replaced = try Tool.run(call + [file, "--overwrite"])
            XCTAssertEqual(replaced.status, 0, replaced.errors)
            XCTAssertNotEqual(try bytes(file), before, "\(call)")
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["there-\(index).jsonl"])
        }
    }

    func testAnOutputThatIsAnInputIsRefusedUnderAnyName() throws {
        for index in try calls(temporaryFolder()).indices {
            let folder = try temporaryFolder()
            let call = try calls(folder)[index]
            let walk = folder + "/walk.jsonl"
            guard call.contains(walk) else { continue }
            let before = try bytes(walk)
            try FileManager.default.createSymbolicLink(atPath: folder + "/symbolic.jsonl", withDestinationPath: walk)
            try FileManager.default.linkItem(atPath: walk, toPath: folder + "/hard.jsonl")
            for name in ["walk.jsonl", "./walk.jsonl", "symbolic.jsonl", "hard.jsonl"] {
                let result = try Tool.run(call + [folder + "/" + name, "--overwrite"])
                XCTAssertEqual(result.status, 1, "\(call) \(name)")
                XCTAssertTrue(result.errors.contains("is also an input of this command"), result.errors)
                XCTAssertEqual(try bytes(walk), before, "\(call) \(name)")
            }
        }
    }

    func testTheDocumentOfAVenueIsRefusedAsOutput() throws {
        let folder = try temporaryFolder() + "/office"
        try FileManager.default.copyItem(
            atPath: Checkout.root().path + "/Fixtures/packets/accepted/smallest", toPath: folder)
        let before = try bytes(folder + "/venue.json")
        let result = try Tool.run(
            ["venue", "export", folder, "-o", folder + "/venue.json", "--overwrite"])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("is also an input of this command"), result.errors)
        XCTAssertEqual(try bytes(folder + "/venue.json"), before)
    }

    func testAnArchiveIsNotReplacedByItsPacket() throws {
        let folder = try temporaryFolder()
        let zip = folder + "/museum.zip"
        XCTAssertEqual(try Tool.run(["venue", "import", "Fixtures/imdf/museum", "-o", zip]).status, 0)
        let before = try bytes(zip)
        let result = try Tool.run(["venue", "import", zip, "-o", folder + "/./museum.zip", "--overwrite"])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("is also an input of this command"), result.errors)
        XCTAssertEqual(try bytes(zip), before)
    }

    func testReplaysDoNotReplaceTheirTracks() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let tracks = try FileManager.default.contentsOfDirectory(atPath: set + "/tracks").sorted()
        let before = try tracks.map { try bytes(set + "/tracks/" + $0) }
        for option in [[], ["--overwrite"]] {
            let result = try Tool.run(["evaluate", set, "--replays", set + "/tracks"] + option)
            XCTAssertEqual(result.status, 1)
            XCTAssertTrue(result.errors.contains("is also an input of this command"), result.errors)
            XCTAssertEqual(try tracks.map { try bytes(set + "/tracks/" + $0) }, before)
        }
    }

    func testNoOutputReplacesARecordingOfADataSet() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let walks = set + "/walks"
        try FileManager.default.createDirectory(atPath: walks, withIntermediateDirectories: true)
        let walk = try ShortRecording(lines: 60).write(to: walks, as: "walk.jsonl")
        let track = set + "/tracks/short.jsonl"
        let survey = "Fixtures/office/survey/ground-west.jsonl"
        for (call, file) in [
            (["evaluate", set, "--errors"], track), (["evaluate", set, "--errors"], walk),
            (["evaluate", set, "--replays", walks], walks + "/short.jsonl"),
            (["plot", "error", set, "-o"], track),
            (["plot", "residuals", set, "-o"], track), (["plot", "range", set, "-o"], track),
            (["survey", "--venue", "Fixtures/office", survey, "--unlabelled", walks, "-o"], walk),
        ] {
            if !FileManager.default.fileExists(atPath: file) {
                try FileManager.default.linkItem(atPath: track, toPath: file)
            }
            let before = try bytes(file)
            let result = try Tool.run(call + (call.last == walks ? [] : [file]) + ["--overwrite"])
            XCTAssertEqual(result.status, 1, "\(call)")
            XCTAssertTrue(
                result.errors.contains("\(file) is also an input of this command"), "\(call): \(result.errors)")
            XCTAssertEqual(try bytes(file), before, "\(call)")
        }
    }

    func testAPacketReplacesNoFileUnaskedAndNoInputAtAll() throws {
        let folder = try temporaryFolder()
        let plans = folder + "/plans"
        let (ground, upper) = (plans + "/level0.png", plans + "/level1.png")
        try FileManager.default.createDirectory(atPath: plans, withIntermediateDirectories: true)
        try Data("precious".utf8).write(to: URL(filePath: ground))
        let scale = ["--scale", "30,30,1050,30=34"]
        let new = ["venue", "new", "--name", "L", "-o", folder] + scale
        let refused = try Tool.run(new + ["--plan", "Fixtures/office/plans/ground.png"])
        XCTAssertEqual(refused.status, 1)
        XCTAssertEqual(
            refused.errors, "indoorloc: the output \(ground) already exists: use --overwrite to replace it\n")
        XCTAssertEqual(try bytes(ground), Data("precious".utf8))
        XCTAssertFalse(FileManager.default.fileExists(atPath: folder + "/venue.json"))
        let replaced = try Tool.run(new + ["--plan", "Fixtures/office/plans/ground.png", "--overwrite"])
        XCTAssertEqual(replaced.status, 0, replaced.errors)
        // The plans would be exchanged.
        try FileManager.default.copyItem(
            atPath: Checkout.root().path + "/Fixtures/office/plans/upper.png", toPath: upper)
        let before = try [ground, upper].map(bytes)
        let exchanged = try Tool.run(new + ["--plan", upper, "--plan", ground, "--overwrite"])
        XCTAssertEqual(exchanged.status, 1)
        XCTAssertTrue(exchanged.errors.contains("\(ground) is also an input of this command"), exchanged.errors)
        XCTAssertEqual(try [ground, upper].map(bytes), before)
    }

    func testAnImportReplacesNoPlanUnaskedAndNotItsArchive() throws {
        let folder = try temporaryFolder()
        let (kept, next) = (folder + "/office", folder + "/next")
        try FileManager.default.copyItem(atPath: Checkout.root().path + "/Fixtures/espresense", toPath: next)
        try FileManager.default.moveItem(atPath: next + "/house.yaml", toPath: next + "/venue.json")
        let archive = next + "/venue.json"
        let before = try bytes(archive)
        let own = try Tool.run(["venue", "import", archive, "-o", next, "--overwrite"])
        XCTAssertEqual(own.status, 1)
        XCTAssertTrue(own.errors.contains("\(archive) is also an input of this command"), own.errors)
        XCTAssertEqual(try bytes(archive), before)

        XCTAssertEqual(try Tool.run(["venue", "import", "Fixtures/imdf/museum", "-o", kept]).status, 0)
        var venue = try VenuePacketReader().read(kept).venue
        venue.maps[0].imagePath = "plans/a.png"
        (venue.maps[0].widthPixels, venue.maps[0].heightPixels) = (10, 10)
        for packet in [kept, next] {
            try FileManager.default.createDirectory(atPath: packet + "/plans", withIntermediateDirectories: true)
            try Data(packet.utf8).write(to: URL(filePath: packet + "/plans/a.png"))
        }
        try VenuePacketWriter().write(venue, toFolder: kept)
        try FileManager.default.removeItem(atPath: archive)
        let words = ["venue", "import", "--keep", kept, "Fixtures/imdf/museum", "-o", next]
        let refused = try Tool.run(words)
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.errors.contains("\(next)/plans/a.png already exists"), refused.errors)
        XCTAssertEqual(try bytes(next + "/plans/a.png"), Data(next.utf8))
        XCTAssertEqual(try Tool.run(words + ["--overwrite"]).status, 0)
        XCTAssertEqual(try bytes(next + "/plans/a.png"), Data(kept.utf8))
    }

    func testAFailedCommandLeavesTheExistingFile() throws {
        let folder = try temporaryFolder()
        var recording = try ShortRecording(lines: 60)
        recording.lines[40] = "{"
        let broken = try recording.write(to: folder)
        let file = folder + "/there.jsonl"
        let before = Data("precious\n".utf8)
        try before.write(to: URL(filePath: file))
        let result = try Tool.run(["convert", broken, file, "--overwrite"])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(try bytes(file), before)
        XCTAssertEqual(
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted(), ["short.jsonl", "there.jsonl"])
    }

    func testTheTargetOfASymbolicLinkIsReplacedAndKeepsItsMode() throws {
        let folder = try temporaryFolder()
        let (file, link) = (folder + "/there.geojson", folder + "/link.geojson")
        XCTAssertTrue(
            FileManager.default.createFile(
                atPath: file, contents: Data("x".utf8), attributes: [.posixPermissions: 0o640]))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        let result = try Tool.run(["venue", "export", "Fixtures/office", "-o", link, "--overwrite"])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(try FileManager.default.destinationOfSymbolicLink(atPath: link), file)
        XCTAssertTrue(try bytes(file).starts(with: Data("{\"type\"".utf8)))
        XCTAssertEqual(try mode(file), 0o640)
    }

    func testFilesWithLocationsAreReadableByTheOwnerOnly() throws {
        let folder = try temporaryFolder()
        let walk = try ShortRecording(lines: 60).write(to: folder)
        let calls: [(call: [String], name: String)] = [
            (["replay"] + venue + ShortDataSet.light + [walk, "--geojson"], "track.geojson"),
            (["simulate"] + venue + ["--path", "Fixtures/office/paths/track-upper.json", "-o"], "walk.jsonl.gz"),
            (["convert", walk], "walk.btsnoop"),
        ]
        for (call, name) in calls {
            XCTAssertEqual(try Tool.run(call + [folder + "/" + name]).status, 0, name)
            XCTAssertEqual(try mode(folder + "/" + name), 0o600, name)
        }
    }

    func testCommandsWriteToDevicesAndPipes() throws {
        let export = ["venue", "export", "Fixtures/office", "-o"]
        XCTAssertEqual(try Tool.run(export + ["/dev/null"]).status, 0)
        let result = try Tool.run(export + ["/dev/stdout"])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.output.hasPrefix("{\"type\":\"FeatureCollection\""))
        // A file as standard output already exists, as the shell creates it.
        let folder = try temporaryFolder()
        let words = ["-c", "\"$@\" -o /dev/stdout > \(folder)/out.geojson", "bash", try Tool.path()]
        let redirected = try Tool.run(words + export.dropLast(), program: "/bin/bash")
        XCTAssertEqual(redirected.status, 0, redirected.errors)
        XCTAssertEqual(try bytes(folder + "/out.geojson"), Data(result.output.utf8))
        let full = try Tool.run(export + ["/dev/full"])
        XCTAssertEqual(full.status, 1)
        XCTAssertEqual(
            full.errors, "indoorloc: /dev/full cannot be written: No space left on device; free some space\n")
    }

    private func mode(_ path: String) throws -> Int {
        try XCTUnwrap(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }
}

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
