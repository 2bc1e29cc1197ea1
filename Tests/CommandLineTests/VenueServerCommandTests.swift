import Foundation
import LoopbackServers
import XCTest

/// `venue publish` and `venue fetch`, with a real nginx between them.
final class VenueServerCommandTests: XCTestCase {
    private func server(_ configuration: NginxServer.Configuration = NginxServer.Configuration()) throws -> NginxServer
    {
        let root = try temporaryFolder()
        let museum = "Fixtures/packets/accepted/every-field"
        let result = try Tool.run(["venue", "publish", root, "Fixtures/office", museum])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.output, "venue 1: Office, version 1, added\nvenue 7: Museum, version 12, added\n")
        let server = try NginxServer(root: root, folder: try temporaryFolder(), configuration)
        addTeardownBlock { server.stop() }
        return server
    }

    func testPublishAgainSaysUnchanged() throws {
        let root = try temporaryFolder()
        for change in ["added", "unchanged"] {
            let result = try Tool.run(["venue", "publish", root, "Fixtures/office"])
            XCTAssertEqual(result.output, "venue 1: Office, version 1, \(change)\n")
        }
    }

    func testPublishRefusesABadPacketWithItsProblems() throws {
        let root = try temporaryFolder()
        let result = try Tool.run(["venue", "publish", root, "Fixtures/packets/rejected/unknown-map"])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(result.output, "")
        XCTAssertTrue(result.errors.contains("$.paths.nodes[0].mapId: "), result.errors)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: root), [])
    }

    func testFetchTellsWhatTheServerHas() throws {
        let server = try server()
        let result = try Tool.run(["venue", "fetch", "--server", server.url(), "--cache", try temporaryFolder()])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.output, "1\t1\tOffice\n7\t12\tMuseum\n")
    }

    func testWhatWasFetchedIsAPacketThatOtherCommandsTake() throws {
        let server = try server()
        let cache = try temporaryFolder()
        let all = try Tool.run(["venue", "fetch", "--server", server.url(), "--cache", cache, "--all"])
        XCTAssertEqual(all.status, 0, all.errors)
        XCTAssertEqual(all.errors, "")
        XCTAssertEqual(all.lines.count, 2)
        for line in all.lines { XCTAssertEqual(try Tool.run(["venue", "check", String(line)]).status, 0) }
        server.stop()
        // Stored, it comes without the server, whose absence is told.
        let again = try Tool.run(["venue", "fetch", "--server", server.url(), "--cache", cache, "7"])
        XCTAssertEqual(again.status, 0, again.errors)
        XCTAssertEqual(again.output, "\(all.lines[1])\n")
        XCTAssertTrue(again.errors.hasPrefix("indoorloc: network error: \(server.url())/catalogue.json"), again.errors)
    }

    func testAReplayWithAVenueOfAServerIsThatWithThePacket() throws {
        let server = try server()
        let recording = "Fixtures/recordings/one-floor/scan.jsonl.gz"
        let local = try Tool.run(["replay", "--venue", "Fixtures/office", recording])
        let remote = try Tool.run([
            "replay", "--venue", "1", "--server", server.url(), "--cache", try temporaryFolder(), recording,
        ])
        XCTAssertEqual(remote.status, 0, remote.errors)
        XCTAssertEqual(remote.output, local.output)
        XCTAssertFalse(remote.output.isEmpty)
    }

    func testCredentialsComeFromFilesAndAreNotPrinted() throws {
        let server = try server(
            NginxServer.Configuration(location: "if ($http_authorization != 'Bearer right-token') { return 403; }"))
        let folder = try temporaryFolder()
        for (token, status) in [("right-token", 0), ("wrong-token", 1)] {
            try Data("\(token)\n".utf8).write(to: URL(filePath: folder + "/token"))
            let result = try Tool.run([
                "venue", "fetch", "--server", server.url(), "--cache", folder, "--token-file", folder + "/token", "1",
            ])
            XCTAssertEqual(result.status, Int32(status), result.errors)
            XCTAssertFalse((result.output + result.errors).contains(token))
            XCTAssertEqual(result.errors.contains("status 403"), status == 1, result.errors)
        }
    }

    func testAUserFileHoldsUserAndPassword() throws {
        let server = try server(
            NginxServer.Configuration(location: "if ($http_authorization != 'Basic YTpiOmM=') { return 401; }"))
        let folder = try temporaryFolder()
        for (text, status) in [("a:b:c", 0), ("a", 1)] {
            try Data(text.utf8).write(to: URL(filePath: folder + "/user"))
            let result = try Tool.run([
                "venue", "fetch", "--server", server.url(), "--cache", folder, "--user-file", folder + "/user", "1",
            ])
            XCTAssertEqual(result.status, Int32(status), result.errors)
        }
    }

    func testWrongCallsOfFetch() throws {
        for (arguments, message) in [
            (["1"], "--server is missing"), (["--server", "http://x", "one"], "ID must be a whole number, not 'one'"),
            (["--server", "http://x", "--all", "1"], "--all and '1' contradict each other"),
            (
                ["--server", "http://x", "--token-file", "a", "--user-file", "b"],
                "--token-file and --user-file contradict each other"
            ),
        ] {
            let result = try Tool.run(["venue", "fetch"] + arguments)
            XCTAssertEqual(result.status, 2)
            XCTAssertTrue(result.errors.contains(message), result.errors)
        }
        let replay = try Tool.run(["replay", "--venue", "Fixtures/office", "--server", "http://127.0.0.1:1", "R"])
        XCTAssertEqual(replay.status, 2)
        XCTAssertTrue(replay.errors.contains("--venue must be a venue's number"), replay.errors)
    }
}
