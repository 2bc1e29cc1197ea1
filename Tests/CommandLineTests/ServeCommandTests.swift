import Foundation
import IndoorLocalization
import VenuePackets
import XCTest

/// `serve` on a recording in real time: its memory and its end.
final class ServeCommandTests: XCTestCase {
    private func content(_ folder: String) throws -> SessionMemoryStore.Content {
        try SessionMemoryStore(folder: folder).read()
    }

    private func memory(_ folder: String) throws -> SessionMemory {
        let content = try content(folder)
        guard case .memory(let memory, _) = content else { throw XCTSkipFailure(content: content) }
        return memory
    }

    private struct XCTSkipFailure: Error {
        let content: SessionMemoryStore.Content
    }

    private func number(_ name: String, of line: String) throws -> Double {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return try XCTUnwrap(object?[name] as? Double, "\(name) of \(line)")
    }

    func testSIGTERMAndSIGINTEndTheServiceAndSaveTheMemory() throws {
        for signal in [SIGTERM, SIGINT] {
            let folder = try temporaryFolder()
            let service = try ServiceProcess(
                ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", folder, "--save-every", "3600"])
            try service.wait(for: "\"type\":\"position\"")
            service.send(signal)
            XCTAssertEqual(try service.end(), 0, "\(service.errors)")
            let last = try XCTUnwrap(service.told.last)
            XCTAssertTrue(last.contains("\"state\":\"idle\""), last)
            let stay = try XCTUnwrap(try memory(folder).stay)
            XCTAssertEqual(stay.venueID, 1)
            XCTAssertEqual(stay.mapID, 1)
            XCTAssertFalse(stay.places.isEmpty)
            XCTAssertNotNil(try memory(folder).calibration)
        }
    }

    /// `timeout` sends its signal twice, to the program and to its group.
    func testARepeatedSignalEndsTheServiceOnce() throws {
        let folder = try temporaryFolder()
        let service = try ServiceProcess(
            ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", folder, "--save-every", "3600"])
        try service.wait(for: "\"type\":\"position\"")
        service.send(SIGTERM)
        service.send(SIGINT)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        XCTAssertTrue(try XCTUnwrap(service.told.last).contains("\"state\":\"idle\""), "\(service.told)")
        XCTAssertEqual(try memory(folder).stay?.venueID, 1)
    }

    /// Log lines go to standard error, for the journal.
    func testLogLinesHaveTheSessionsTraceID() throws {
        let folder = try temporaryFolder()
        var names: Set<Substring> = []
        for _ in 0..<2 {
            let service = try ServiceProcess(
                ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", folder, "--once"])
            XCTAssertEqual(try service.end(), 0, "\(service.errors)")
            let traces = service.errors.map { $0.firstMatch(of: #/ \[trace ([0-9a-f]{16})\]$/#)?.output.1 }
            XCTAssertFalse(traces.isEmpty)
            XCTAssertFalse(traces.contains(nil), "\(service.errors)")
            XCTAssertEqual(Set(traces).count, 1, "one session: \(service.errors)")
            names.formUnion(traces.compactMap(\.self))
        }
        XCTAssertEqual(names.count, 2, "each run is a session of its own")
    }

    func testEachLineHasTheTimeOfDay() throws {
        let service = try ServiceProcess(
            ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", try temporaryFolder(), "--once"])
        XCTAssertEqual(try service.end(), 0)
        XCTAssertTrue(service.told.contains { $0.contains(#""type":"position""#) }, "\(service.told)")
        for line in service.told {
            XCTAssertEqual(try number("time", of: line), Date().timeIntervalSince1970, accuracy: Tool.bound)
        }
    }

    func testOnceEndsTheServiceAfterTheFirstPosition() throws {
        let folder = try temporaryFolder()
        let service = try ServiceProcess(
            ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", folder, "--once"])
        XCTAssertEqual(try service.end(), 0)
        XCTAssertGreaterThan(service.told.count { $0.contains("\"position\"") }, 0)
        XCTAssertEqual(try memory(folder).stay?.mapID, 1)
    }

    func testAServiceWithATimeLimitEndsAndSavesItsMemory() throws {
        let folder = try temporaryFolder()
        let service = try ServiceProcess(
            ServiceProcess.walk("one-floor", from: 5), environment: ["STATE_DIRECTORY": folder + ":/nowhere"])
        // The memory is in the first of systemd's directories.
        try service.wait(for: "\"position\"")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        XCTAssertNotNil(try memory(folder).stay)
        let pass = try ServiceProcess(
            ServiceProcess.walk("one-floor", from: 8) + ["--state-directory", folder, "--seconds", "1"])
        XCTAssertEqual(try pass.end(), 0)
        XCTAssertTrue(pass.errors.contains { $0.contains("restored the memory of venue 1") }, "\(pass.errors)")
    }

    func testARestartDoesNotLeaveRooms() throws {
        let folder = try temporaryFolder()
        let state = ["--state-directory", folder]
        let first = try ServiceProcess(ServiceProcess.walk("stairs", from: 50) + state)
        try first.wait(for: "\"enterRoom\"")
        first.send(SIGTERM)
        XCTAssertEqual(try first.end(), 0)
        XCTAssertFalse(first.told.contains { $0.contains("\"exitRoom\"") }, "\(first.told)")
        let rooms = try XCTUnwrap(try memory(folder).stay?.rooms)
        XCTAssertFalse(rooms.isEmpty)
        // The device stays there until the end of the recording.
        let second = try ServiceProcess(ServiceProcess.walk("stairs", from: 53.5) + state)
        try second.wait(for: "\"position\"")
        second.send(SIGTERM)
        XCTAssertEqual(try second.end(), 0)
        for room in rooms {
            XCTAssertFalse(second.told.contains { $0.contains("\"enterRoom\"") && $0.contains("\"id\":\(room.id),") })
        }
    }

    func testTheServiceAppendsLinesToAFile() throws {
        let folder = try temporaryFolder()
        let file = folder + "/positions.jsonl"
        for run in 1...2 {
            let service = try ServiceProcess(
                ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", folder, "--once", "--output", file])
            XCTAssertEqual(try service.end(), 0, "\(service.errors)")
            XCTAssertEqual(service.told, [])
            let lines = String(decoding: try bytes(file), as: UTF8.self).split(separator: "\n")
            XCTAssertEqual(lines.count { $0.contains("\"started\"") }, run)
        }
    }

    func testAnUnreadableMemoryIsMovedAndReported() throws {
        let folder = try temporaryFolder()
        for (text, words) in [
            ("{", "is not JSON"), ("{\"format\":\"other\"}", "is not a session memory"),
            ("{\"format\":\"indoor-localization-memory\",\"version\":99}", "is of version 99"),
        ] {
            try Data(text.utf8).write(to: URL(filePath: folder + "/memory.json"))
            let service = try ServiceProcess(
                ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", folder, "--once"])
            XCTAssertEqual(try service.end(), 0)
            XCTAssertTrue(
                service.errors.contains { $0.contains(words) && $0.contains("moved to") }, "\(service.errors)")
            XCTAssertEqual(try bytes(folder + "/memory.json.unusable"), Data(text.utf8))
            XCTAssertNotNil(try memory(folder).stay, "the session begins without a memory")
        }
    }

    func testTwoServicesDoNotShareAFolder() throws {
        let folder = try temporaryFolder()
        let arguments = try ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", folder]
        let first = try ServiceProcess(arguments)
        try first.wait(for: "\"position\"")
        let second = try ServiceProcess(arguments)
        XCTAssertEqual(try second.end(), 1)
        XCTAssertTrue(second.errors.contains { $0.contains("in use by another process") }, "\(second.errors)")
        first.send(SIGTERM)
        XCTAssertEqual(try first.end(), 0)
    }

    func testAnUnwritableStateFolderIsReportedAndTheServiceContinues() throws {
        let folder = try temporaryFolder()
        // A folder has the path of the new file.
        try FileManager.default.createDirectory(
            atPath: folder + "/memory.json.new/inside", withIntermediateDirectories: true)
        let service = try ServiceProcess(
            ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", folder, "--save-every", "0.05"])
        try service.waitForError("the memory can't be saved")
        try service.wait(for: "\"position\"")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        XCTAssertEqual(service.errors.count { $0.contains("the memory can't be saved") }, 1, "\(service.errors)")
    }

    func testAStartOffsetBeyondTheRecordingIsAFailure() throws {
        let service = try ServiceProcess(
            ServiceProcess.walk("one-floor", from: 9999) + ["--state-directory", try temporaryFolder()])
        XCTAssertEqual(try service.end(), 1)
        XCTAssertTrue(
            service.errors.contains { $0.contains("scan.jsonl.gz: the recording ends at 30.0 s") }, "\(service.errors)")
        XCTAssertEqual(service.told, [])
    }

    func testTheOutputIsPrivateAndNeverAnInput() throws {
        let folder = try temporaryFolder()
        let walk = try ServiceProcess.walk("one-floor", from: 5)
        let file = folder + "/positions.jsonl"
        let service = try ServiceProcess(walk + ["--state-directory", folder, "--once", "--output", file])
        XCTAssertEqual(try service.end(), 0)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o600)
        let settings = folder + "/settings.json"
        try Data("{}".utf8).write(to: URL(filePath: settings))
        let refused = try ServiceProcess(
            walk + ["--state-directory", folder, "--once", "--settings", settings, "--output", settings])
        XCTAssertEqual(try refused.end(), 1)
        XCTAssertTrue(refused.errors.contains { $0.contains("is also an input of this command") }, "\(refused.errors)")
        XCTAssertEqual(try bytes(settings), Data("{}".utf8))
    }

    func testTheServiceSucceedsWhenTheReaderClosesThePipe() throws {
        let call = try ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", try temporaryFolder()]
        let words = ["-c", "set -o pipefail; \"$@\" | head -1", "bash", try Tool.path(), "serve"] + call
        let result = try Tool.run(words, program: "/bin/bash")
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.output.split(separator: "\n").count, 1)
        XCTAssertFalse(result.errors.contains("Broken pipe"), result.errors)
    }

    func testInvalidServeOptionsAreRefused() throws {
        for (arguments, words) in [
            ([], "--venue is missing"), (["--venue", "x", "--save-every", "0"], "--save-every must be"),
            (["--venue", "x", "--replay-from", "-1"], "--replay-from must be"),
            (["--venue", "x", "--seconds", "none"], "--seconds must be"),
            (["--venue", "x", "--save-every", "0"], "from 0.01 to 86400, not '0'"),
            (["--venue", "x", "--replay-from", "1"], "--replay-from requires --replay"),
            (["--venue", "x", "--replay", "y", "--adapter", "hci0"], "--adapter can't be combined with --replay"),
            (["--venue", "x", "--replay", "y", "--route", "hci"], "--route can't be combined with --replay"),
            (["--venue", "x", "--state-directory", ""], "--state-directory must be a folder"),
            (["--venue", "Fixtures/office", "--venue", "Fixtures/office"], "has the same venue id"),
        ] as [([String], String)] {
            let result = try Tool.run(["serve"] + arguments)
            XCTAssertEqual(result.status, 2, "\(arguments)")
            XCTAssertTrue(result.errors.contains(words), result.errors)
        }
    }
}
