import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import Synchronization
import VenuePackets
import XCTest
@testable import indoorloc

/// The command `venue edit`: the requests that its server accepts and refuses, and what it leaves on disk.
final class VenueEditCommandTests: XCTestCase {
    /// A served packet.
    private struct Served {
        let process: ServiceProcess
        let folder: String
        /// The URL without the token, with a final slash.
        let url: String
        let token: String
        var file: String { folder + "/venue.json" }
    }

    /// The answer of a server.
    private struct Answer {
        let status: Int
        let tag: String
        let body: String
    }

    private func copy(of packet: String = "office") throws -> String {
        let folder = try temporaryFolder() + "/packet"
        try FileManager.default.copyItem(atPath: try FixtureFolder(packet).path, toPath: folder)
        return folder
    }

    private func edit(_ folder: String, environment: [String: String] = [:]) throws -> Served {
        let process = try ServiceProcess(["edit", folder], command: "venue", environment: environment)
        let parts = try process.wait(for: "/?token=").components(separatedBy: "?token=")
        return Served(process: process, folder: folder, url: parts[0], token: parts[1])
    }

    /// Requests a path with curl.
    private func request(_ served: Served, _ path: String, _ options: [String] = []) throws -> Answer {
        let format = "\\n%{http_code}\\n%header{etag}"
        let result = try Tool.run(
            ["--silent", "--show-error", "--max-time", "180", "--write-out", format] + options + [served.url + path],
            program: "/usr/bin/curl")
        XCTAssertEqual(result.status, 0, result.errors)
        var lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let (tag, status) = (lines.removeLast(), lines.removeLast())
        return Answer(status: try XCTUnwrap(Int(status)), tag: tag, body: lines.joined(separator: "\n"))
    }

    private func get(_ served: Served, _ path: String = "api/v1/document") throws -> Answer {
        try request(served, path, ["-H", "Authorization: Bearer \(served.token)"])
    }

    /// Returns the status of the answer to a request for a picture.
    private func status(_ served: Served, _ path: String) throws -> Int? {
        let result = try Tool.run(
            [
                "--silent", "--max-time", "180", "--output", "/dev/null", "--write-out", "%{http_code}", "-H",
                "Authorization: Bearer \(served.token)", served.url + path,
            ], program: "/usr/bin/curl")
        return Int(result.output)
    }

    /// Submits a document.
    private func put(
        _ served: Served, _ document: String, basedOn tag: String?, _ headers: [String] = [],
        type: String = "application/json"
    ) throws -> Answer {
        let file = try temporaryFolder() + "/document.json"
        try Data(document.utf8).write(to: URL(filePath: file))
        var options = ["-X", "PUT", "--data-binary", "@" + file]
        let condition = tag.map { ["If-Match: \($0)"] } ?? []
        for header in ["Authorization: Bearer \(served.token)", "Content-Type: \(type)"] + condition + headers {
            options += ["-H", header]
        }
        return try request(served, "api/v1/document", options)
    }

    private func text(_ served: Served) throws -> String { try String(contentsOfFile: served.file, encoding: .utf8) }

    func testADocumentIsReplacedInOneStepAndKeepsItsPermissions() throws {
        let served = try edit(try copy())
        XCTAssertEqual(chmod(served.file, 0o640), 0)
        let read = try get(served)
        XCTAssertEqual(read.status, 200)
        XCTAssertEqual(read.body, try text(served))
        let changed = try text(served).replacingOccurrences(of: "\"Office\"", with: "\"Bureau\"")
        let answer = try put(served, changed, basedOn: read.tag)
        XCTAssertEqual(answer.status, 200, answer.body)
        XCTAssertEqual(try text(served), changed)
        XCTAssertEqual(answer.tag, try get(served).tag)
        XCTAssertNotEqual(answer.tag, read.tag)
        let mode = try FileManager.default.attributesOfItem(atPath: served.file)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o640)
        XCTAssertEqual(
            try FileManager.default.contentsOfDirectory(atPath: served.folder).filter { $0.contains("unfinished") }, [])
        served.process.send(SIGINT)
        XCTAssertEqual(try served.process.end(), 0)
    }

    func testADocumentThatWasChangedElsewhereIsNotReplaced() throws {
        let served = try edit(try copy())
        let old = try get(served).tag
        let other = try text(served).replacingOccurrences(of: "\"Office\"", with: "\"Bureau\"")
        try Data(other.utf8).write(to: URL(filePath: served.file))
        let refused = try put(served, try text(served), basedOn: old)
        XCTAssertEqual(refused.status, 412)
        XCTAssertTrue(refused.body.contains("Another program has changed venue.json"), refused.body)
        XCTAssertEqual(refused.tag, try get(served).tag, "the answer has the revision that would be replaced")
        let unconditional = try put(served, "{}", basedOn: nil)
        XCTAssertEqual(unconditional.status, 428)
        XCTAssertTrue(unconditional.body.contains("If-Match"), unconditional.body)
        XCTAssertEqual(try text(served), other)
    }

    func testADocumentWithErrorsIsNotWrittenAndEachErrorHasItsPlace() throws {
        let served = try edit(try copy())
        let before = try text(served)
        let tag = try get(served).tag
        for (document, place) in [
            ("{\"id\": 1,\n \"name\" }", "line 2, column 9"), ("[1]", "$"),
            (before.replacingOccurrences(of: "\"x\": 16.0", with: "\"x\": \"east\""), "$.beacons[5].x"),
            (
                before.replacingOccurrences(of: "[[1, 6], [9, 6], [9, 11.5], [1, 11.5]]", with: "[[1, 6], [9, 6]]"),
                "$.rooms[0]"
            ),
            (before.replacingOccurrences(of: "plans/ground.png", with: "plans/missing.png"), "$.maps[0].image"),
        ] {
            let answer = try put(served, document, basedOn: tag)
            XCTAssertEqual(answer.status, 422, answer.body)
            XCTAssertTrue(answer.body.contains(place), "\(place): \(answer.body)")
            XCTAssertTrue(answer.body.contains("Nothing was saved"), answer.body)
        }
        XCTAssertEqual(try text(served), before)
    }

    func testADocumentIsCheckedWithoutBeingWritten() throws {
        let served = try edit(try copy())
        let before = try text(served)
        func check(_ document: String, _ headers: [String]) throws -> Answer {
            try request(
                served, "api/v1/check",
                ["-X", "POST", "--data-binary", document] + headers.flatMap { ["-H", $0] })
        }
        let headers = ["Authorization: Bearer \(served.token)", "Content-Type: application/json"]
        let wrong = try check(#"{"id": 1, "name": 2}"#, headers)
        XCTAssertEqual(wrong.status, 200)
        XCTAssertTrue(wrong.body.contains("$.name"), wrong.body)
        let right = try check(before, headers)
        XCTAssertEqual(right.status, 200)
        XCTAssertFalse(right.body.contains("\"error\""), right.body)
        XCTAssertEqual(try check(before, [headers[0]]).status, 415)
        XCTAssertEqual(try check(before, [headers[1]]).status, 401)
        XCTAssertEqual(try get(served, "api/v1/check").status, 405)
        XCTAssertEqual(try text(served), before)
    }

    func testOnlyThePageWithTheTokenReadsAndWrites() throws {
        let served = try edit(try copy())
        let before = try text(served)
        let tag = try get(served).tag
        XCTAssertEqual(try request(served, "").status, 401)
        XCTAssertEqual(try request(served, "api/v1/document").status, 401)
        let wrong = ["-H", "Authorization: Bearer \(served.token.reversed().map(String.init).joined())"]
        XCTAssertEqual(try request(served, "api/v1/document", wrong).status, 401)
        XCTAssertEqual(try put(served, before, basedOn: tag, ["Origin: http://evil.example"]).status, 403)
        XCTAssertEqual(try put(served, before, basedOn: tag, ["Origin: null"]).status, 403)
        XCTAssertEqual(try put(served, before, basedOn: tag, type: "text/plain").status, 415)
        let posted = try request(
            served, "api/v1/document", ["-X", "POST", "-d", "{}", "-H", "Authorization: Bearer \(served.token)"])
        XCTAssertEqual(posted.status, 405)
        XCTAssertEqual(try get(served, "api/v1/overview?x=1").status, 400)
        XCTAssertEqual(try get(served, "api/v1/plan?venue=1&map=9").status, 404)
        XCTAssertEqual(try get(served, "../venue.json").status, 404)
        XCTAssertEqual(try text(served), before)
        // A token for each run.
        XCTAssertNotEqual(try edit(try copy()).token, served.token)
    }

    func testTheBrowserGetsTheTokenFromAFileThatOnlyItsOwnerCanRead() throws {
        let folder = try temporaryFolder()
        let told = folder + "/told"
        XCTAssertEqual(mkfifo(told, 0o600), 0)
        // In place of the default browser: passes on its argument, and the permissions and the content of that file.
        let script = "#!/bin/sh\n{ echo \"$1\"; stat -c %a \"$1\"; cat \"$1\"; } >\(told)\n"
        try Data(script.utf8).write(to: URL(filePath: folder + "/xdg-open"))
        XCTAssertEqual(chmod(folder + "/xdg-open", 0o755), 0)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let process = try ServiceProcess(
            ["edit", "--open", try copy()], command: "venue",
            environment: ["PATH": "\(folder):\(path)", "XDG_RUNTIME_DIR": folder])
        let url = try process.wait(for: "/?token=")
        let result = try Tool.run(["\(Int(Tool.bound))", "cat", told], program: "/usr/bin/timeout")
        let lines = result.output.split(separator: "\n").map(String.init)
        XCTAssertEqual(lines.count, 3, result.output)
        XCTAssertTrue(lines[0].hasPrefix(folder + "/indoorloc-"), "the argument has no token: \(lines[0])")
        XCTAssertEqual(lines[1], "600")
        XCTAssertTrue(lines[2].contains("content=\"0; url=\(url)\""), lines[2])
        process.send(SIGTERM)
        XCTAssertEqual(try process.end(), 0)
        XCTAssertFalse(FileManager.default.fileExists(atPath: lines[0]), "the file is removed at the end")
    }

    func testADocumentAboveTheLimitIsRefused() throws {
        let served = try edit(try copy())
        let before = try text(served)
        let long = "{\"x\": \"" + String(repeating: "x", count: 16 << 20) + "\"}"
        let answer = try put(served, long, basedOn: try get(served).tag)
        XCTAssertEqual(answer.status, 413)
        XCTAssertTrue(answer.body.contains("16777216 bytes"), answer.body)
        XCTAssertEqual(try text(served), before)
    }

    func testAFullOrDefectiveDiskLeavesTheEarlierFile() throws {
        for (plan, message) in [
            ("write ENOSPC -1 .unfinished", "No space left on device"),
            ("sync EIO -1 .unfinished", "Input/output error"),
            ("rename EIO -1 venue.json", "Input/output error"),
            ("open EROFS -1 .unfinished", "Read-only file system"),
        ] {
            let faults = try FaultyFiles(in: try temporaryFolder())
            let served = try edit(try copy(), environment: faults.environment)
            let before = try text(served)
            let changed = before.replacingOccurrences(of: "\"Office\"", with: "\"Bureau\"")
            let tag = try get(served).tag
            try faults.set([plan])
            let answer = try put(served, changed, basedOn: tag)
            XCTAssertEqual(answer.status, 500, plan)
            XCTAssertTrue(answer.body.contains(message) && answer.body.contains("The file is unchanged"), answer.body)
            XCTAssertEqual(try text(served), before, plan)
            XCTAssertFalse(faults.failures.isEmpty, plan)
            try faults.set([])
            XCTAssertEqual(try put(served, changed, basedOn: tag).status, 200, "the fault is over")
            XCTAssertEqual(
                try FileManager.default.contentsOfDirectory(atPath: served.folder).filter { $0.contains("unfin") }, [])
        }
    }

    func testADocumentIsSavedOnAFileSystemThatCannotSynchronizeFolders() throws {
        let faults = try FaultyFiles(in: try temporaryFolder())
        let served = try edit(try copy(), environment: faults.environment)
        var tag = try get(served).tag
        try faults.set(["sync EINVAL -1 /packet$"])
        for name in ["Bureau", "Ufficio"] {
            let changed = try text(served).replacing(/"Office"|"Bureau"/, with: "\"\(name)\"")
            let answer = try put(served, changed, basedOn: tag)
            XCTAssertEqual(answer.status, 200, answer.body)
            XCTAssertEqual(try text(served), changed)
            tag = try get(served).tag
        }
        XCTAssertFalse(faults.failures.isEmpty)
    }

    func testARemovedDocumentIsWrittenAgainIfThePersonWantsIt() throws {
        let served = try edit(try copy())
        let before = try text(served)
        let tag = try get(served).tag
        try FileManager.default.removeItem(atPath: served.file)
        XCTAssertEqual(try put(served, before, basedOn: "*").status, 412)
        let refused = try put(served, before, basedOn: tag)
        XCTAssertEqual(refused.status, 412)
        // What the page sends for "Keep mine, and overwrite".
        XCTAssertEqual(try put(served, before, basedOn: refused.tag).status, 200)
        XCTAssertEqual(try text(served), before)
        XCTAssertEqual(try put(served, before, basedOn: refused.tag).status, 412, "the file is there")
    }

    func testALinkedDocumentIsReplacedAtItsPlace() throws {
        let folder = try copy()
        let real = folder + "/real.json"
        try FileManager.default.moveItem(atPath: folder + "/venue.json", toPath: real)
        try FileManager.default.createSymbolicLink(atPath: folder + "/venue.json", withDestinationPath: "real.json")
        let served = try edit(folder)
        let changed = try text(served).replacingOccurrences(of: "\"Office\"", with: "\"Bureau\"")
        XCTAssertEqual(try put(served, changed, basedOn: try get(served).tag).status, 200)
        XCTAssertEqual(try String(contentsOfFile: real, encoding: .utf8), changed)
        XCTAssertEqual(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/venue.json"), "real.json")
    }

    func testADocumentOutsideTheFolderIsRefused() throws {
        let folder = try copy()
        let real = try temporaryFolder() + "/real.json"
        try FileManager.default.moveItem(atPath: folder + "/venue.json", toPath: real)
        try FileManager.default.createSymbolicLink(atPath: folder + "/venue.json", withDestinationPath: real)
        let result = try Tool.run(["venue", "edit", folder])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("a symbolic link that leaves the folder"), result.errors)
    }

    /// Another user of the machine who may write into the packet's folder can put anything in place of a plan.
    func testAPlanThatIsALinkOrAPipeIsNeitherShownNorWaitedFor() throws {
        let folder = try copy()
        let served = try edit(folder)
        let plan = folder + "/plans/ground.png"
        let id = try VenuePacketReader().read(folder).venue.id
        let path = "api/v1/plan?venue=\(id)&map=1"
        let image = "api/v1/image?path=plans/ground.png"
        XCTAssertEqual(try status(served, path), 200)
        XCTAssertEqual(try status(served, image), 200)
        let secret = try temporaryFolder() + "/secret"
        try Data("secret".utf8).write(to: URL(filePath: secret))
        for prepare in [
            { try FileManager.default.createSymbolicLink(atPath: plan, withDestinationPath: secret) },
            { XCTAssertEqual(mkfifo(plan, 0o600), 0) },
        ] {
            try FileManager.default.removeItem(atPath: plan)
            try prepare()
            XCTAssertEqual(try status(served, path), 404)
            XCTAssertEqual(try status(served, image), 404)
        }
        XCTAssertEqual(try get(served).status, 200)
    }

    func testAnythingButAWritableFolderOfAPacketIsRefusedAtTheStart() throws {
        let folder = try temporaryFolder()
        let zip = folder + "/office.zip"
        try VenuePacketWriter().pack(folder: try FixtureFolder("office").path, toZip: zip)
        let drawings = try temporaryFolder() + "/drawings"
        try FileManager.default.createDirectory(atPath: drawings + "/plans", withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: try Self.picture(), toPath: drawings + "/plans/ground.png")
        for (packet, message) in [
            (zip, "needs a packet's folder: unzip"), (folder, "has no venue.json"), (drawings, "has no venue.json"),
        ] {
            let result = try Tool.run(["venue", "edit", packet])
            XCTAssertEqual(result.status, 1, packet)
            XCTAssertTrue(result.errors.contains(message), result.errors)
            XCTAssertEqual(result.output, "")
        }
        for (arguments, message) in [
            (["-"], "can't be standard input"), (["--http", "0.0.0.0:8080", folder], "could change the packet"),
            (["--http", "host:1", folder], "--http"), ([], "PACKET is missing"),
        ] {
            let result = try Tool.run(["venue", "edit"] + arguments)
            XCTAssertEqual(result.status, 2, "\(arguments)")
            XCTAssertTrue(result.errors.contains(message), result.errors)
        }
    }

    /// Sends a file for the packet.
    private func upload(_ served: Served, _ path: String, _ file: String) throws -> Answer {
        try request(
            served, path,
            [
                "-X", "PUT", "--data-binary", "@" + file, "-H", "Authorization: Bearer \(served.token)", "-H",
                "Content-Type: application/octet-stream",
            ])
    }

    private func file(_ content: String) throws -> String {
        let path = try temporaryFolder() + "/file"
        try Data(content.utf8).write(to: URL(filePath: path))
        return path
    }

    func testANewPacketBeginsInAFolderThatIsMissingOrEmptyAndIsWrittenWhenItIsSaved() throws {
        let empty = try temporaryFolder() + "/empty"
        try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
        for folder in [try temporaryFolder() + "/a/library", empty] {
            let served = try edit(folder)
            let begun = try get(served)
            XCTAssertEqual(begun.status, 200)
            XCTAssertFalse(FileManager.default.fileExists(atPath: served.file))
            XCTAssertTrue(try get(served, "api/v1/overview").body.contains("Ground floor"))
            let changed = begun.body.replacingOccurrences(of: "Ground floor", with: "Hall")
            XCTAssertEqual(try put(served, changed, basedOn: begun.tag).status, 200)
            XCTAssertEqual(try VenuePacketReader().read(folder).venue.maps.map(\.name), ["Hall"])
            served.process.send(SIGINT)
            XCTAssertEqual(try served.process.end(), 0)
        }
        let unsaved = try temporaryFolder() + "/unsaved"
        let served = try edit(unsaved)
        XCTAssertEqual(try upload(served, "api/v1/plan-image?name=a.png", Self.picture()).status, 201)
        served.process.send(SIGINT)
        XCTAssertEqual(try served.process.end(), 0)
        XCTAssertFalse(FileManager.default.fileExists(atPath: unsaved), "a file that nothing refers to is removed")
    }

    func testVenueNewWithoutArgumentsOpensTheEditorOnAnEmptyPlan() throws {
        let folder = try temporaryFolder()
        // In place of the default browser.
        let script = "#!/bin/sh\necho opened >\(folder)/told\n"
        try Data(script.utf8).write(to: URL(filePath: folder + "/xdg-open"))
        XCTAssertEqual(chmod(folder + "/xdg-open", 0o755), 0)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let words = ["-C", folder, try Tool.path()]
        let process = try ServiceProcess(
            ["new"], command: "venue", environment: ["PATH": "\(folder):\(path)", "XDG_RUNTIME_DIR": folder],
            wrapper: ["/usr/bin/env"] + words)
        let parts = try process.wait(for: "/?token=").components(separatedBy: "?token=")
        let served = Served(process: process, folder: folder + "/venue", url: parts[0], token: parts[1])
        let begun = try get(served)
        XCTAssertEqual(begun.status, 200)
        XCTAssertEqual(try upload(served, "api/v1/plan-image?name=a.png", Self.picture()).status, 201)
        XCTAssertFalse(FileManager.default.fileExists(atPath: served.file))
        XCTAssertEqual(try put(served, begun.body, basedOn: begun.tag).status, 200)
        XCTAssertEqual(try VenuePacketReader().read(folder + "/venue").venue.maps.map(\.name), ["Ground floor"])
        process.send(SIGINT)
        XCTAssertEqual(try process.end(), 0)
        // The browser is another process.
        let end = ContinuousClock.now
        while !FileManager.default.fileExists(atPath: folder + "/told"), end.duration(to: .now) < Bounded.longest {}
        XCTAssertTrue(FileManager.default.fileExists(atPath: folder + "/told"), "the page is opened")
        let again = try Tool.run(words + ["venue", "new"], program: "/usr/bin/env")
        XCTAssertEqual(again.status, 1)
        XCTAssertTrue(again.errors.contains("'indoorloc venue edit venue'"), again.errors)
    }

    func testANewPacketIsOpenedAgainAfterAnUncleanEnd() throws {
        let folder = try temporaryFolder() + "/library"
        let killed = try edit(folder)
        XCTAssertEqual(try upload(killed, "api/v1/plan-image?name=a.png", Self.picture()).status, 201)
        let map = try temporaryFolder() + "/radio-map.json"
        let office = try FixtureFolder("office").path
        let survey = try Tool.run(["survey", "--venue", office, "-o", map, office + "/survey/ground-west.jsonl"])
        XCTAssertEqual(survey.status, 0, survey.errors)
        XCTAssertEqual(try upload(killed, "api/v1/radio-map?name=a.json", map).status, 201)
        killed.process.send(SIGKILL)
        XCTAssertEqual(try killed.process.end(), 128 + SIGKILL)
        XCTAssertTrue(FileManager.default.fileExists(atPath: folder + "/plans"))
        let served = try edit(folder)
        let begun = try get(served)
        XCTAssertEqual(begun.status, 200)
        XCTAssertEqual(try put(served, begun.body, basedOn: begun.tag).status, 200)
        XCTAssertEqual(try VenuePacketReader().read(folder).venue.maps.map(\.name), ["Ground floor"])
    }

    func testAClosedTerminalEndsTheCommandInOrder() throws {
        let folder = try temporaryFolder() + "/a/library"
        // The command inherits an ignored signal, as from nohup.
        let before = signal(SIGHUP, SIG_DFL)
        defer { signal(SIGHUP, before) }
        let served = try edit(folder)
        XCTAssertEqual(try upload(served, "api/v1/plan-image?name=a.png", Self.picture()).status, 201)
        served.process.send(SIGHUP)
        XCTAssertEqual(try served.process.end(), 0)
        XCTAssertFalse(FileManager.default.fileExists(atPath: URL(filePath: folder).deletingLastPathComponent().path))
    }

    func testASignalThatNohupIgnoresStaysIgnored() {
        // The tests may run under nohup, too.
        let before = signal(SIGHUP, SIG_DFL)
        defer { signal(SIGHUP, before) }
        XCTAssertEqual(PageInterruption.signals, [SIGINT, SIGTERM, SIGHUP])
        signal(SIGHUP, SIG_IGN)
        XCTAssertEqual(PageInterruption.signals, [SIGINT, SIGTERM])
    }

    func testFoldersThatTheUserMadeStay() throws {
        let folder = try temporaryFolder() + "/library"
        for made in [folder, folder + "/plans"] {
            try FileManager.default.createDirectory(atPath: made, withIntermediateDirectories: true)
            let served = try edit(folder)
            XCTAssertEqual(try upload(served, "api/v1/plan-image?name=a.png", Self.picture()).status, 201)
            served.process.send(SIGINT)
            XCTAssertEqual(try served.process.end(), 0)
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: made), [], made)
        }
    }

    func testAnImageStaysIfAnotherProgramEscapesItsPath() throws {
        let served = try edit(try copy())
        let answer = try upload(served, "api/v1/plan-image?name=new.png", Self.picture())
        let path =
            try XCTUnwrap(
                try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any])["path"] as? String
        let image = try XCTUnwrap(path)
        let escaped = image.replacingOccurrences(of: "/", with: "\\/")
        let changed = try text(served).replacingOccurrences(of: "plans/ground.png", with: escaped)
        XCTAssertTrue(changed.contains(#"plans\/new-"#))
        try Data(changed.utf8).write(to: URL(filePath: served.file))
        served.process.send(SIGINT)
        XCTAssertEqual(try served.process.end(), 0)
        XCTAssertTrue(FileManager.default.fileExists(atPath: served.folder + "/" + image))
    }

    private static func picture() throws -> String { try FixtureFolder("office").path + "/plans/ground.png" }

    func testAnImageIsWrittenIntoThePacketBesideTheEarlierOnes() throws {
        let served = try edit(try copy())
        let before = try FileManager.default.contentsOfDirectory(atPath: served.folder + "/plans").sorted()
        let answer = try upload(served, "api/v1/plan-image?name=My%20%2Fplan..png", Self.picture())
        XCTAssertEqual(answer.status, 201, answer.body)
        let now = try FileManager.default.contentsOfDirectory(atPath: served.folder + "/plans").sorted()
        let new = Set(now).subtracting(before)
        XCTAssertEqual(new.count, 1)
        let name = try XCTUnwrap(new.first)
        XCTAssertTrue(name.hasPrefix("my--plan-") && name.hasSuffix(".png"), name)
        XCTAssertTrue(answer.body.contains("plans/\(name)"), answer.body)
        XCTAssertEqual(try status(served, "api/v1/image?path=plans/\(name)"), 200)
        let drawing = "<?xml version=\"1.0\"?><!-- a plan --><svg xmlns=\"http://www.w3.org/2000/svg\"/>"
        XCTAssertEqual(try upload(served, "api/v1/plan-image?name=a", file(drawing)).status, 201)
        // Only images are sent, and only those of the packet.
        for path in ["venue.json", "../packet/plans/ground.png", "/etc/passwd", "plans", "plans/missing.png"] {
            XCTAssertEqual(try status(served, "api/v1/image?path=\(path)"), 404, path)
        }
        // The document refers to the SVG: it stays at the end, and the other one vanishes.
        let svg = try XCTUnwrap(
            try FileManager.default.contentsOfDirectory(atPath: served.folder + "/plans").first { $0.hasSuffix(".svg") }
        )
        let changed = try text(served).replacingOccurrences(of: "plans/ground.png", with: "plans/\(svg)")
        XCTAssertEqual(try put(served, changed, basedOn: try get(served).tag).status, 200)
        served.process.send(SIGINT)
        XCTAssertEqual(try served.process.end(), 0)
        XCTAssertEqual(
            try FileManager.default.contentsOfDirectory(atPath: served.folder + "/plans").sorted(),
            (before + [svg]).sorted())
    }

    func testAFileOfAnotherKindIsRefused() throws {
        let served = try edit(try copy())
        for content in ["text", "<html><svg></svg></html>", "<!-- <svg>", "GIF", "{}"] {
            let answer = try upload(served, "api/v1/plan-image?name=a.png", file(content))
            XCTAssertEqual(answer.status, 422, content)
            XCTAssertTrue(answer.body.contains("export the plan as PNG"), answer.body)
        }
        let map = try upload(served, "api/v1/radio-map?name=a.json", file("{\"format\": \"other\"}"))
        XCTAssertEqual(map.status, 422)
        XCTAssertTrue(map.body.contains("not a radio map"), map.body)
        let long = try temporaryFolder() + "/long"
        XCTAssertTrue(FileManager.default.createFile(atPath: long, contents: nil))
        XCTAssertEqual(truncate(long, (64 << 20) + 1), 0)
        XCTAssertEqual(try upload(served, "api/v1/plan-image?name=a.png", long).status, 413)
        let typed = try request(
            served, "api/v1/plan-image?name=a",
            ["-X", "PUT", "-d", "x", "-H", "Authorization: Bearer \(served.token)", "-H", "Content-Type: text/plain"])
        XCTAssertEqual(typed.status, 415)
        XCTAssertEqual(try request(served, "api/v1/plan-image?name=a", ["-X", "PUT", "-d", "x"]).status, 401)
    }

    func testAnImageIsNotWrittenThroughALinkToAnotherFolder() throws {
        let folder = try copy()
        let other = try temporaryFolder() + "/other"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        try FileManager.default.removeItem(atPath: folder + "/plans")
        try FileManager.default.createSymbolicLink(atPath: folder + "/plans", withDestinationPath: other)
        let served = try edit(folder)
        let answer = try upload(served, "api/v1/plan-image?name=a.png", Self.picture())
        XCTAssertEqual(answer.status, 500)
        XCTAssertTrue(answer.body.contains("symbolic link"), answer.body)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: other), [])
    }

    func testPublishingWarnsOfARadioMapToWhichTheDocumentDoesNotRefer() throws {
        let folder = try copy()
        let survey = try Tool.run([
            "survey", "--venue", folder, "-o", folder + "/radio-map.json.gz",
            try FixtureFolder("office").path + "/survey/ground-west.jsonl",
        ])
        XCTAssertEqual(survey.status, 0, survey.errors)
        let published = try temporaryFolder() + "/public"
        let first = try Tool.run(["venue", "publish", published, folder])
        XCTAssertEqual(first.status, 0, first.errors)
        XCTAssertTrue(first.errors.contains("radio-map.json.gz is a radio map"), first.errors)
        let served = try edit(folder)
        XCTAssertTrue(try get(served, "api/v1/overview").body.contains("\"path\":\"radio-map.json.gz\""))
        let file = served.file
        let changed = try text(served).replacingOccurrences(
            of: "\"radius\": 30,", with: "\"radius\": 30, \"radioMap\": \"radio-map.json.gz\","
        ).replacingOccurrences(of: "\"version\": 1,", with: "\"version\": 2,")
        try Data(changed.utf8).write(to: URL(filePath: file))
        let second = try Tool.run(["venue", "publish", published, folder])
        XCTAssertEqual(second.status, 0, second.errors)
        XCTAssertFalse(second.errors.contains("is a radio map"), second.errors)
    }

    func testAFolderThatCannotBeWrittenIsRefusedAtTheStart() throws {
        let folder = try copy()
        XCTAssertEqual(chmod(folder, 0o555), 0)
        defer { chmod(folder, 0o755) }
        // Root writes into every folder; without this capability, it doesn't.
        let wrapper = ["--bounding-set", "-dac_override", "--inh-caps", "-dac_override"]
        let command = [try Tool.path(), "venue", "edit", folder]
        let result =
            geteuid() == 0
            ? try Tool.run(wrapper + command, program: "/usr/bin/setpriv") : try Tool.run(Array(command.dropFirst()))
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("can't be written; check its permissions"), result.errors)
    }
}

/// The document that a page edits.
final class EditedVenueFileTests: XCTestCase {
    /// Counts the times that the document is read.
    private final class Reads: Sendable {
        private let number = Mutex(0)

        var count: Int { number.withLock { $0 } }

        func read(_ file: String, below folder: String) throws(BoundedFileError) -> [UInt8] {
            number.withLock { $0 += 1 }
            return try BoundedFile.read(file, below: folder, limit: EditedVenueFile.limit)
        }
    }

    func testPlansNeedNoReadingOfAnUnchangedDocument() async throws {
        let folder = try temporaryFolder() + "/packet"
        try FileManager.default.copyItem(atPath: try FixtureFolder("office").path, toPath: folder)
        let reads = Reads()
        let file = try EditedVenueFile(packet: folder) { file, folder throws(BoundedFileError) in
            try reads.read(file, below: folder)
        }
        let first = try await file.shownVenue()
        XCTAssertEqual(first?.name, "Office")
        let count = reads.count
        for _ in 0..<100 {
            let venue = try await file.shownVenue()
            XCTAssertEqual(venue, first)
        }
        XCTAssertEqual(reads.count, count)
        // A change by another program, in place and with the same size.
        let path = folder + "/venue.json"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try Data(text.replacing("\"Office\"", with: "\"Bureau\"").utf8).write(to: URL(filePath: path))
        let changed = try await file.shownVenue()
        XCTAssertEqual(changed?.name, "Bureau")
        XCTAssertEqual(reads.count, count + 1)
        // As saving replaces it.
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
        let saved = try await file.shownVenue()
        XCTAssertEqual(saved?.name, "Office")
        try FileManager.default.removeItem(atPath: path)
        do {
            _ = try await file.shownVenue()
            XCTFail("there is no document")
        } catch { XCTAssertTrue("\(error)".contains("No such file or directory"), "\(error)") }
    }

    /// A reader of files that waits for a permission when it is asked to.
    private final class Gate: Sendable {
        private let isClosed = Mutex(false)
        private let entered = DispatchSemaphore(value: 0)
        private let opened = DispatchSemaphore(value: 0)

        func close() { isClosed.withLock { $0 = true } }
        func open() { opened.signal() }
        /// Returns whether a reader waits.
        func isEntered() -> Bool { entered.wait(timeout: .now() + Tool.bound) == .success }

        func read(_ file: String, below folder: String) throws(BoundedFileError) -> [UInt8] {
            if isClosed.withLock({ $0 }) {
                entered.signal()
                _ = opened.wait(timeout: .now() + Tool.bound)
            }
            return try BoundedFile.read(file, below: folder, limit: EditedVenueFile.limit)
        }
    }

    func testAWaitingCheckIsLeftOutWhenANewerDocumentHasArrived() async throws {
        let folder = try temporaryFolder() + "/packet"
        try FileManager.default.copyItem(atPath: try FixtureFolder("office").path, toPath: folder)
        let gate = Gate()
        let file = try EditedVenueFile(packet: folder) { file, folder throws(BoundedFileError) in
            try gate.read(file, below: folder)
        }
        let bytes = try await file.edition().bytes
        // Reading the document occupies the actor, so that the checks wait.
        gate.close()
        let reading = Task { try await file.edition() }
        XCTAssertTrue(gate.isEntered())
        var checks: [Task<Bool, Never>] = []
        for number in 1...3 {
            checks.append(Task { await file.checkUnlessReplaced(bytes + Array("\(number)".utf8)) != nil })
            while file.requestedChecks < number { await Task.yield() }
        }
        gate.open()
        _ = try await reading.value
        var isChecked: [Bool] = []
        for check in checks { isChecked.append(await check.value) }
        XCTAssertEqual(isChecked, [false, false, true])
    }

    /// The page shows the problems of `check`, so that a person who begins with an image learns what is missing.
    func testAPlanWithoutAnInsideIsAProblem() async throws {
        let folder = try temporaryFolder() + "/packet"
        try FileManager.default.copyItem(atPath: try FixtureFolder("office").path, toPath: folder)
        let file = try EditedVenueFile(packet: folder)
        func problems() async throws -> [String] {
            let edition = try await file.edition()
            return await file.check(edition).problems.map(\.message).filter { $0.contains("inside of the building") }
        }
        let whole = try await problems()
        XCTAssertEqual(whole, [])
        let path = folder + "/venue.json"
        let data = try Data(contentsOf: URL(filePath: path))
        var document = try XCTUnwrap(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        document["rooms"] = nil
        document["maps"] = (document["maps"] as? [[String: Any]])?.map { map in
            map.filter { !["walls", "walkable"].contains($0.key) }
        }
        try JSONSerialization.data(withJSONObject: document).write(to: URL(filePath: path))
        let empty = try await problems()
        XCTAssertEqual(empty.count, document["maps"].flatMap { $0 as? [Any] }?.count)
        XCTAssertTrue(empty.first?.contains("add rooms, walls or walkable areas") ?? false)
    }
}
