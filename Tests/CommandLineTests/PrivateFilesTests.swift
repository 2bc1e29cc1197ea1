import Foundation
import IndoorLocalizationTesting
import LoopbackServers
import XCTest

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
