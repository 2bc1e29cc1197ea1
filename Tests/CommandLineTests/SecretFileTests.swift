import Foundation
import IndoorLocalizationTesting
import LoopbackServers
import XCTest

/// The permissions of files with secrets, for each option that names such a file.
final class SecretFileOptionTests: XCTestCase {
    /// A command that reads the file of an option, and ends with another error if the file is accepted.
    private struct Use {
        let option: String
        let program: String
        let words: [String]

        init(_ option: String, _ words: [String], program: String = "indoorloc") {
            (self.option, self.words, self.program) = (option, words, program)
        }

        func run(_ file: String) throws -> Tool.Result {
            let folder = URL(filePath: try Tool.path()).deletingLastPathComponent()
            return try Tool.run(words + ["--" + option, file], program: folder.appending(path: program).path)
        }
    }

    /// - Parameter folder: a folder for what the commands store.
    private static func uses(in folder: String) -> [Use] {
        func serve(_ option: String, _ words: String...) -> Use {
            Use(option, ["serve", "--venue", "/nowhere", "--state-directory", folder] + words)
        }
        func fleet(_ option: String, _ words: String...) -> Use { Use(option, words, program: "indoorloc-fleet") }
        let server = "https://127.0.0.1:1"
        let (setup, nats) = ("setup", "nats://127.0.0.1:1")
        return [
            Use("token-file", ["venue", "fetch", "--cache", folder, "--server", server]),
            Use("user-file", ["venue", "fetch", "--cache", folder, "--server", server]),
            serve("http-token-file", "--http", "127.0.0.1:0"),
            serve("upload-token-file", "--upload-beacons", "--upload-url", server),
            serve("upload-password-file", "--upload-beacons", "--upload-url", server),
            serve("upload-password-file", "--upload-beacons", "--upload-url", "mqtt://cart@127.0.0.1/tags"),
            serve("settings-token-file", "--settings-url", server + "/settings.json"),
            serve("share-password-file", "--share", "mqtt://cart@127.0.0.1/hall"),
            serve("share-sign-key", "--share", "mqtt://127.0.0.1/hall"),
            Use("publish-password-file", ["scan", "--replay", "/nowhere", "--publish", "mqtt://cart@127.0.0.1/site"]),
            Use("broker-password-file", ["track", "--venue", "/nowhere", "--broker", "mqtt://cart@127.0.0.1"]),
            Use(
                "alert-key",
                [
                    "track", "--venue", "/nowhere", "--broker", "mqtt://127.0.0.1:1", "--state", folder, "--alerts",
                    "/nowhere",
                    "--alert-webhook", server,
                ]),
            fleet("nats-user-file", setup, "--nats", nats),
            fleet("nats-credentials", setup, "--nats", nats),
            fleet("nats-key", setup, "--nats", nats, "--nats-certificate", "/nowhere"),
            fleet("nats-certificate", setup, "--nats", nats),
            fleet("password-file", "store", "--nats", nats, "--keep-days", "0"),
        ]
    }

    func testEachOptionRefusesASecretThatOtherUsersCanRead() throws {
        let (file, folder) = try (temporaryFolder() + "/secret", temporaryFolder())
        // A login, but also a token and a password.
        try SecretText.write("a:bcdefghijklmnopqrstuvwxyz\n", to: file)
        for use in Self.uses(in: folder) {
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            let refused = try use.run(file)
            XCTAssertEqual(refused.status, 1, "--\(use.option): \(refused.errors)")
            for text in ["--\(use.option) \(file): its mode 0644 lets every user", "use 'chmod 600 \(file)'"] {
                XCTAssertTrue(refused.errors.contains(text), refused.errors)
            }
            XCTAssertFalse(refused.errors.contains("bcdef"), refused.errors)
            // The mode of systemd's credentials with an access list.
            try FileManager.default.setAttributes([.posixPermissions: 0o440], ofItemAtPath: file)
            let accepted = try use.run(file)
            XCTAssertNotEqual(accepted.status, 0, "--\(use.option)")
            XCTAssertFalse(accepted.errors.contains("chmod"), accepted.errors)
        }
    }

    func testTheTestCoversEachOptionForASecret() throws {
        let endings = ["token-file", "user-file", "password-file", "-key", "-credentials", "-certificate"]
        let options = Set(try DescribedProgram.all().flatMap(\.commands).flatMap(\.longOptions)).filter { option in
            endings.contains(where: option.hasSuffix) && !option.hasSuffix("-plain-credentials")
                && option != "--plain-credentials"
        }
        XCTAssertEqual(options.sorted(), Set(Self.uses(in: "").map { "--" + $0.option }).sorted())
    }

    func testASecretFromAPipeIsReadWhateverItsMode() throws {
        let pipe = try temporaryFolder() + "/pipe"
        XCTAssertEqual(mkfifo(pipe, 0o600), 0)
        XCTAssertEqual(chmod(pipe, 0o666), 0)
        let port = try TestPort.free()
        let script = """
            printf 'a-password\\n' > "$1" &
            exec "$0" share watch mqtt://cart@127.0.0.1:\(port)/hall --share-password-file "$1"
            """
        let result = try Tool.run(["-c", script, try Tool.path(), pipe], program: "/bin/sh")
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("no broker is reachable at 127.0.0.1:\(port)"), result.errors)
    }
}

/// Files with tokens and passwords that are too long to be one.
final class LongSecretTests: XCTestCase {
    /// A file of its owner with 64 KiB and one byte.
    private func secret(_ text: String = "") throws -> String {
        let path = try temporaryFolder() + "/secret"
        let long = text + String(repeating: "x", count: 65_537 - text.utf8.count)
        try Data(long.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }

    private func assertRefused(_ arguments: [String], _ file: String, line: UInt = #line) throws {
        let result = try Tool.run(arguments + [file])
        XCTAssertEqual(result.status, 1, result.errors, line: line)
        XCTAssertTrue(
            result.errors.contains("\(file): the first line is longer than 65536 bytes"), result.errors, line: line)
    }

    func testTheCredentialsOfAVenueServerHaveALimit() throws {
        let fetch = ["venue", "fetch", "--server", "https://127.0.0.1:1", "--cache", try temporaryFolder()]
        try assertRefused(fetch + ["--token-file"], secret())
        try assertRefused(fetch + ["--user-file"], secret("a:"))
    }

    func testTheTokenOfALiveMapHasALimit() throws {
        let serve = try ["serve"] + ServiceProcess.walk("one-floor") + ["--http", "127.0.0.1:0"]
        try assertRefused(serve + ["--http-token-file"], secret())
    }
}

/// The access permissions of everything that shows where a device is or was: only its owner has access, whatever the
/// umask.
final class PrivateFilesTests: XCTestCase {
    private static let umasks = ["000", "022"]
    private static let recording = "Fixtures/recordings/one-floor/scan.jsonl.gz"

    /// Runs the tool with a umask.
    private func run(_ umask: String, _ arguments: [String]) throws {
        let result = try Tool.run(arguments, under: "umask \(umask)")
        XCTAssertEqual(result.status, 0, "\(arguments.prefix(2)): \(result.errors)")
    }

    /// Returns the files and folders below a folder to which others have access.
    private func open(in folder: String) throws -> [String] {
        let files = FileManager.default
        let paths = try files.subpathsOfDirectory(atPath: folder)
        XCTAssertFalse(paths.isEmpty, "nothing was written")
        return try paths.sorted().compactMap { path in
            let mode = try XCTUnwrap(files.attributesOfItem(atPath: folder + "/" + path)[.posixPermissions] as? Int)
            return mode & 0o077 == 0 ? nil : "\(path) has mode \(String(mode, radix: 8))"
        }
    }

    func testTheServiceWritesPrivateFiles() throws {
        for umask in Self.umasks {
            let folder = try temporaryFolder()
            try run(
                umask,
                ["serve"] + ServiceProcess.walk("one-floor", from: 5) + [
                    "--once", "--state-directory", folder + "/a/state", "--output", folder + "/positions.jsonl",
                    "--upload-url", "http://127.0.0.1:9/", "--upload-positions",
                ])
            XCTAssertEqual(try open(in: folder), [], "umask \(umask)")
        }
    }

    func testTheTagTrackerWritesPrivateFiles() throws {
        let broker = try broker()
        for umask in Self.umasks {
            let folder = try temporaryFolder()
            let service = try ServiceProcess(
                [
                    "--broker", "mqtt://127.0.0.1:\(broker.port)", "--venue", try FixtureFolder("tags/office").path,
                    "--state", folder + "/a/state",
                ], command: "track",
                wrapper: ["/bin/sh", "-c", "umask \(umask); exec \"$0\" \"$@\"", try Tool.path()])
            try service.waitForError("receiving from")
            service.send(SIGTERM)
            XCTAssertEqual(try service.end(), 0, "\(service.errors)")
            XCTAssertEqual(try open(in: folder), [], "umask \(umask)")
        }
    }

    func testTheCacheOfVenuesIsPrivate() throws {
        let root = try temporaryFolder()
        XCTAssertEqual(try Tool.run(["venue", "publish", root, "Fixtures/office"]).status, 0)
        let server = try NginxServer(root: root, folder: try temporaryFolder(), NginxServer.Configuration())
        defer { server.stop() }
        for umask in Self.umasks {
            let folder = try temporaryFolder()
            try run(umask, ["venue", "fetch", "--server", server.url(), "--cache", folder + "/a/cache", "--all"])
            XCTAssertEqual(try open(in: folder), [], "umask \(umask)")
        }
    }

    func testRecordingsAndResultsArePrivate() throws {
        let umask = "000"
        let folder = try temporaryFolder()
        try run(umask, ["convert", Self.recording, folder + "/converted.jsonl.gz"])
        try run(
            umask, ["replay", "--venue", "Fixtures/office", Self.recording, "--geojson", folder + "/track.geojson"])
        try run(umask, ["view", "--venue", "Fixtures/office", Self.recording, "--output", folder + "/view.html"])
        try run(
            umask,
            ["evaluate", "Fixtures/real/tetam", "--report", folder + "/reports", "--replays", folder + "/replays"])
        XCTAssertEqual(try open(in: folder), [], "umask \(umask)")
    }

    /// A venue isn't private, but its folder isn't open to changes by others: they could replace a plan by a link.
    func testVenuesFollowTheUmask() throws {
        for (umask, folderMode) in [("022", 0o755), ("027", 0o750), ("077", 0o700)] {
            let folder = try temporaryFolder()
            let plan = "Fixtures/office/plans/ground.png"
            try run(umask, ["venue", "new", "--plan", plan, "--scale", "30,30,1050,30=34", "-o", folder + "/a/new"])
            try run(umask, ["venue", "import", "-o", folder + "/b/museum", "Fixtures/imdf/museum"])
            try run(umask, ["venue", "import", "-o", folder + "/b/museum.zip", "Fixtures/imdf/museum"])
            try run(umask, ["venue", "publish", folder + "/c/public", "Fixtures/office"])
            try run(umask, ["manual", "--folder", folder + "/d/pages"])
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + path)
                let mode = try XCTUnwrap(attributes[.posixPermissions] as? Int)
                let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
                let expected = isFolder ? folderMode : folderMode & 0o666
                XCTAssertEqual(String(mode, radix: 8), String(expected, radix: 8), "\(path), umask \(umask)")
            }
        }
    }

    /// A web server, which is another user, reads a published folder.
    func testPublishedVenuesAreReadableByOthers() throws {
        let folder = try temporaryFolder()
        try run("022", ["venue", "publish", folder + "/public", "Fixtures/office"])
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + path)
            let mode = try XCTUnwrap(attributes[.posixPermissions] as? Int)
            XCTAssertEqual(mode & 0o044, 0o044, "\(path) has mode \(String(mode, radix: 8))")
        }
    }
}
