import Foundation
import IndoorLocalization
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

    func testPublishingAnUnchangedPacketReportsUnchanged() throws {
        let root = try temporaryFolder()
        for change in ["added", "unchanged"] {
            let result = try Tool.run(["venue", "publish", root, "Fixtures/office"])
            XCTAssertEqual(result.output, "venue 1: Office, version 1, \(change)\n")
        }
    }

    func testPublishRefusesAnInvalidPacketWithItsProblems() throws {
        let root = try temporaryFolder()
        let result = try Tool.run(["venue", "publish", root, "Fixtures/packets/rejected/unknown-map"])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(result.output, "")
        XCTAssertTrue(result.errors.contains("$.paths.nodes[0].mapId: "), result.errors)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: root), [])
    }

    func testFetchListsTheVenuesOfTheServer() throws {
        let server = try server()
        let result = try Tool.run(["venue", "fetch", "--server", server.url(), "--cache", try temporaryFolder()])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.output, "1\t1\tOffice\n7\t12\tMuseum\n")
    }

    func testOtherCommandsReadAFetchedPacket() throws {
        let server = try server()
        let cache = try temporaryFolder()
        let all = try Tool.run(["venue", "fetch", "--server", server.url(), "--cache", cache, "--all"])
        XCTAssertEqual(all.status, 0, all.errors)
        XCTAssertEqual(all.errors, "")
        XCTAssertEqual(all.lines.count, 2)
        for line in all.lines { XCTAssertEqual(try Tool.run(["venue", "check", String(line)]).status, 0) }
        server.stop()
        // The stored venue is used without the server, and the server's absence is reported.
        let again = try Tool.run(["venue", "fetch", "--server", server.url(), "--cache", cache, "7"])
        XCTAssertEqual(again.status, 0, again.errors)
        XCTAssertEqual(again.output, "\(all.lines[1])\n")
        XCTAssertTrue(again.errors.hasPrefix("indoorloc: \(server.url())/catalogue.json cannot be"), again.errors)
        XCTAssertTrue(again.errors.hasSuffix("; going on with the stored catalogue\n"), again.errors)
        let list = try Tool.run(["venue", "fetch", "--server", server.url(), "--cache", cache])
        XCTAssertEqual(list.output, "1\t1\tOffice\n7\t12\tMuseum\n")
        // The line differs by the milliseconds after which the connection failed.
        XCTAssertTrue(list.errors.hasPrefix("indoorloc: \(server.url())/catalogue.json cannot be"), list.errors)
        XCTAssertTrue(list.errors.hasSuffix("; going on with the stored catalogue\n"), list.errors)
    }

    func testAnInvalidCatalogueEntryIsReportedInOneLineEachTime() throws {
        let root = try temporaryFolder()
        XCTAssertEqual(try Tool.run(["venue", "publish", root, "Fixtures/office"]).status, 0)
        let path = URL(filePath: root + "/catalogue.json")
        let text = try String(contentsOf: path, encoding: .utf8).replacing("\"size\":", with: "\"size\":-")
        try Data(text.utf8).write(to: path)
        let server = try NginxServer(root: root, folder: try temporaryFolder())
        addTeardownBlock { server.stop() }
        let cache = try temporaryFolder()
        for _ in 1...2 {
            let result = try Tool.run(["venue", "fetch", "--server", server.url(), "--cache", cache, "--all"])
            XCTAssertEqual(result.output, "")
            let beginning = "indoorloc: \(server.url())/catalogue.json has errors"
            XCTAssertTrue(result.errors.hasPrefix(beginning), result.errors)
            XCTAssertTrue(result.errors.contains("$.venues[0].size: "), result.errors)
            XCTAssertTrue(
                result.errors.hasSuffix("\nindoorloc: 1 venue of the server was not fetched, as it has errors\n"),
                result.errors)
            XCTAssertEqual(result.errors.split(separator: "\n").count, 2, result.errors)
            XCTAssertEqual(result.status, 1)
        }
        let one = try Tool.run(["venue", "fetch", "--server", server.url(), "--cache", cache, "1"])
        XCTAssertEqual(one.status, 1)
        XCTAssertTrue(one.errors.contains("indoorloc: venue 1 cannot be fetched, because its entry in "), one.errors)
    }

    func testAVenueWithErrorsDoesNotKeepTheOthersFromBeingFetched() throws {
        let root = try temporaryFolder()
        let museum = "Fixtures/packets/accepted/every-field"
        XCTAssertEqual(try Tool.run(["venue", "publish", root, "Fixtures/office", museum]).status, 0)
        // Other bytes of the same length, so that the digest of the office is wrong.
        let files = try FileManager.default.subpathsOfDirectory(atPath: root)
        let office = URL(filePath: root + "/" + (try XCTUnwrap(files.first { $0.hasPrefix("venues/1/1-") })))
        try Data(repeating: 7, count: try Data(contentsOf: office).count).write(to: office)
        let server = try NginxServer(root: root, folder: try temporaryFolder())
        addTeardownBlock { server.stop() }
        let cache = try temporaryFolder()
        let result = try Tool.run(["venue", "fetch", "--server", server.url(), "--cache", cache, "--all"])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(result.lines.count, 1, result.output)
        XCTAssertEqual(try Tool.run(["venue", "check", String(try XCTUnwrap(result.lines.first))]).status, 0)
        XCTAssertTrue(
            result.errors.hasSuffix("\nindoorloc: 1 venue of the server was not fetched, as it has errors\n"),
            result.errors)
        XCTAssertTrue(result.errors.contains(office.lastPathComponent), result.errors)
    }

    func testAWithdrawnVenueIsNoLongerListed() throws {
        let root = try temporaryFolder()
        XCTAssertEqual(try Tool.run(["venue", "publish", root, "Fixtures/office"]).status, 0)
        let unknown = try Tool.run(["venue", "publish", root, "--withdraw", "9"])
        XCTAssertEqual(unknown.status, 1)
        XCTAssertTrue(unknown.errors.contains("/catalogue.json: has no venue 9"), unknown.errors)
        let result = try Tool.run(["venue", "publish", root, "--withdraw", "1"])
        XCTAssertEqual(result.output, "venue 1: withdrawn\n")
        let text = try String(contentsOf: URL(filePath: root + "/catalogue.json"), encoding: .utf8)
        XCTAssertTrue(text.contains("\"venues\":[]"), text)
        for arguments in [[root], [root, "--withdraw", "1", "Fixtures/office"], [root, "--withdraw", "one"]] {
            XCTAssertEqual(try Tool.run(["venue", "publish"] + arguments).status, 2, "\(arguments)")
        }
    }

    func testAReplayWithAServersVenueEqualsAReplayWithThePacket() throws {
        let server = try server()
        let recording = try ShortRecording(lines: 100).write(to: temporaryFolder())
        let local = try Tool.run(["replay", "--venue", "Fixtures/office", recording])
        let remote = try Tool.run([
            "replay", "--venue", "1", "--server", server.url(), "--cache", try temporaryFolder(), recording,
        ])
        XCTAssertEqual(remote.status, 0, remote.errors)
        XCTAssertEqual(remote.output, local.output)
        XCTAssertFalse(remote.output.isEmpty)
    }

    func testServeStartsFromTheCacheWhileTheServerIsSilent() throws {
        let cache = try temporaryFolder()
        let good = try server()
        XCTAssertEqual(try Tool.run(["venue", "fetch", "--server", good.url(), "--cache", cache, "1"]).status, 0)
        let silent = try RudeServer { _, _ in RudeServer.Answer(bytes: [], fallsSilent: true) }
        addTeardownBlock { silent.stop() }
        let walk = try ServiceProcess.walk("one-floor", from: 5).dropFirst(2)
        for venue in [["--venue", "1"], []] {
            let begin = ContinuousClock.now
            let service = try ServiceProcess(
                ["--server", silent.url, "--cache", cache, "--state-directory", try temporaryFolder(), "--once"] + venue
                    + walk)
            XCTAssertEqual(try service.end(), 0, "\(service.errors)")
            let seconds = begin.duration(to: .now).seconds
            print("first position of serve \(venue) with a silent server after \(seconds) s")
            XCTAssertTrue(service.told.contains { $0.contains("\"position\"") }, "\(service.told)")
            // With a venue's number the server is asked before the session; later errors are lines of output.
            let lines = venue.isEmpty ? service.told : service.errors
            XCTAssertTrue(
                lines.contains { $0.contains("no complete response within 1.0 s; going on with") }, "\(lines)")
        }
    }

    func testFetchDoesNotWaitForAnEndlessErrorResponse() throws {
        let rude = try RudeServer { _, _ in
            .endless("HTTP/1.1 404 Not Found", .init([UInt8](repeating: 65, count: 1 << 16)))
        }
        addTeardownBlock { rude.stop() }
        let result = try Tool.run(["venue", "fetch", "--server", rude.url, "--cache", try temporaryFolder()])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("(status 404)"), result.errors)
    }

    func testAFullDiskIsNotReportedAsAnInvalidPacket() throws {
        let folder = try temporaryFolder()
        let beacons = (1...500).map { minor in
            #"{"uuid": "6C1D5B0E-3A47-4F0B-9C7E-0D5A1E2B3C4F", "major": 1, "minor": \#(minor), "mapId": 1, "x": 1, "y": 1}"#
        }
        let document = #"""
            {"format": "indoor-localization-venue", "formatVersion": 1, "id": 1, "name": "Hall", "version": 1,
            "maps": [{"id": 1, "name": "Hall", "level": 0, "widthMeters": 10, "heightMeters": 10}],
            "beacons": [\#(beacons.joined(separator: ",\n"))]}
            """#
        try Data(document.utf8).write(to: URL(filePath: folder + "/venue.json"))
        let root = try temporaryFolder()
        let published = try Tool.run(["venue", "publish", root, folder])
        XCTAssertEqual(published.status, 0, published.errors)
        let server = try NginxServer(root: root, folder: try temporaryFolder())
        addTeardownBlock { server.stop() }
        // Files of at most 32 blocks of 512 bytes: enough for the download, but not for the unpacked packet.
        let arguments = ["venue", "fetch", "--server", server.url(), "--cache", try temporaryFolder(), "1"]
        let result = try Tool.run(arguments, under: "trap '' XFSZ; ulimit -f 32")
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("File too large"), result.errors)
        XCTAssertFalse(result.errors.contains("not a usable"), result.errors)
    }

    func testAnEmptyDeviceFileIsReportedAsEmpty() throws {
        let recording = "Fixtures/recordings/one-floor/scan.jsonl.gz"
        let replay = ["replay", "--venue", "Fixtures/office", recording]
        for arguments in [
            replay + ["--radio-map", "/dev/null"], replay + ["--settings", "/dev/null"],
            replay + ["--geofences", "/dev/null"],
            ["venue", "fetch", "--server", "http://127.0.0.1:1", "--token-file", "/dev/null"],
        ] {
            let result = try Tool.run(arguments)
            XCTAssertNotEqual(result.status, 0)
            XCTAssertTrue(result.errors.contains("/dev/null"), result.errors)
            XCTAssertTrue(["is not JSON", "has no token"].contains(where: result.errors.contains), result.errors)
            XCTAssertFalse(result.errors.contains("Permission denied"), result.errors)
        }
    }

    func testUnencryptedCredentialsAreRefusedUnlessAllowed() throws {
        let folder = try temporaryFolder()
        try SecretText.write("s3cret\n", to: folder + "/token")
        let words = [
            "venue", "fetch", "--server", "http://venues.invalid", "--cache", folder, "--token-file", folder + "/token",
        ]
        let refused = try Tool.run(words)
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.errors.contains("--plain-credentials"), refused.errors)
        let asked = try Tool.run(words + ["--plain-credentials"])
        XCTAssertTrue(asked.errors.hasPrefix("indoorloc: warning: the credentials are sent"), asked.errors)
        XCTAssertTrue(asked.errors.contains("http://venues.invalid/catalogue.json cannot be fetched"), asked.errors)
        for result in [refused, asked] { XCTAssertFalse(result.errors.contains("s3cret"), result.errors) }
    }

    func testCredentialsComeFromFilesAndAreNotPrinted() throws {
        let server = try server(
            NginxServer.Configuration(location: "if ($http_authorization != 'Bearer right-token') { return 403; }"))
        let folder = try temporaryFolder()
        for (token, status) in [("right-token", 0), ("wrong-token", 1)] {
            try SecretText.write("\(token)\n", to: folder + "/token")
            let result = try Tool.run([
                "venue", "fetch", "--server", server.url(), "--cache", folder, "--token-file", folder + "/token", "1",
            ])
            XCTAssertEqual(result.status, Int32(status), result.errors)
            XCTAssertFalse((result.output + result.errors).contains(token))
            XCTAssertEqual(result.errors.contains("status 403"), status == 1, result.errors)
        }
    }

    func testVenuesWithTheSameBeaconsAreReportedWhenTheyArePublished() throws {
        let (root, copy) = (try temporaryFolder(), try temporaryFolder() + "/copy")
        try FileManager.default.copyItem(atPath: "Fixtures/office", toPath: copy)
        let document = try String(contentsOf: URL(filePath: copy + "/venue.json"), encoding: .utf8)
        let copied = document.replacing("\"id\": 1,\n  \"name\"", with: "\"id\": 77,\n  \"name\"")
        XCTAssertNotEqual(copied, document)
        try Data(copied.utf8).write(to: URL(filePath: copy + "/venue.json"))
        XCTAssertEqual(try Tool.run(["venue", "publish", root, "Fixtures/office"]).errors, "")
        let result = try Tool.run(["venue", "publish", root, copy])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.errors.contains("indoorloc: the venues 1, 77 have the same beacons"), result.errors)
    }

    func testARefusalWithoutCredentialsNamesTheOptions() throws {
        let server = try server(NginxServer.Configuration(location: "return 403;"))
        let result = try Tool.run(["venue", "fetch", "--server", server.url(), "--cache", try temporaryFolder()])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("no credentials were given"), result.errors)
        XCTAssertTrue(result.errors.contains("--token-file or --user-file"), result.errors)
    }

    func testAFileWithoutAUsableTokenIsNamed() throws {
        let folder = try temporaryFolder()
        for text in ["", "\n", "two words"] {
            try SecretText.write(text, to: folder + "/token")
            let result = try Tool.run([
                "venue", "fetch", "--server", "http://127.0.0.1:1", "--cache", folder,
                "--token-file", folder + "/token",
            ])
            XCTAssertEqual(result.status, 1)
            XCTAssertTrue(result.errors.contains(folder + "/token"), result.errors)
        }
    }

    func testHTTPSToAnHTTPPortIsReported() throws {
        let server = try server()
        let url = "https://127.0.0.1:\(server.port)"
        let result = try Tool.run(["venue", "fetch", "--server", url, "--cache", try temporaryFolder()])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("does that port accept https"), result.errors)
    }

    func testAUserFileGivesUserAndPassword() throws {
        let server = try server(
            NginxServer.Configuration(location: "if ($http_authorization != 'Basic YTpiOmM=') { return 401; }"))
        let folder = try temporaryFolder()
        for (text, status) in [("a:b:c", 0), ("a", 1)] {
            try SecretText.write(text, to: folder + "/user")
            let result = try Tool.run([
                "venue", "fetch", "--server", server.url(), "--cache", folder, "--user-file", folder + "/user", "1",
            ])
            XCTAssertEqual(result.status, Int32(status), result.errors)
        }
    }

    func testInvalidFetchOptionsAreUsageErrors() throws {
        for (arguments, message) in [
            (["1"], "--server is missing"), (["--server", "http://x", "one"], "ID must be a whole number, not 'one'"),
            (["--server", "http://x", "--all", "1"], "--all can't be combined with '1'"),
            (
                ["--server", "http://x", "--token-file", "a", "--user-file", "b"],
                "--token-file and --user-file can't be combined"
            ),
            (["--server", ""], "'' is not valid; give one such as https://"),
            (["--server", "127.0.0.1:18473"], "'127.0.0.1:18473' is not valid; give one such as https://"),
            (["--server", "ftp://host"], "'ftp://host' is not an http or https address"),
        ] {
            let result = try Tool.run(["venue", "fetch"] + arguments)
            XCTAssertEqual(result.status, 2)
            XCTAssertTrue(result.errors.contains(message), result.errors)
        }
        let replay = try Tool.run(["replay", "--venue", "Fixtures/office", "--server", "http://127.0.0.1:1", "R"])
        XCTAssertEqual(replay.status, 2)
        XCTAssertTrue(replay.errors.contains("--venue must be a venue's number"), replay.errors)
        let offline = try Tool.run(["replay", "--venue", "1", "--cache", "venues", "R"])
        XCTAssertEqual(offline.status, 2)
        XCTAssertTrue(offline.errors.contains("--cache requires --server"), offline.errors)
    }
}
