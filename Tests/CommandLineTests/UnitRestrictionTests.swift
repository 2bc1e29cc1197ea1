import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import VenuePackets
import XCTest

/// The services under the system calls and socket families that their systemd units permit, and with the privileges that
/// they keep. A forbidden call ends the process with SIGSYS.
final class UnitRestrictionTests: XCTestCase {
    private func service(
        _ arguments: [String], command: String = "serve", unit: String = "indoorloc.service",
        environment: [String: String] = [:], further: Set<String> = []
    ) throws -> ServiceProcess {
        try ServiceProcess(
            arguments, command: command, environment: environment,
            wrapper: try UnitRestrictions(unit).wrapper(of: try Tool.path(), further: further))
    }

    /// A process that ends while it is signalled leaves half of a file of counters, with which no coverage is computed.
    private static let uncounted = ["LLVM_PROFILE_FILE": "/dev/null"]

    /// Shows that the other tests fail if a unit forbids a call that the service needs.
    func testAForbiddenCallEndsTheProcess() throws {
        let restrictions = try UnitRestrictions("indoorloc.service")
        XCTAssertTrue(restrictions.calls.contains("execve"))
        XCTAssertFalse(restrictions.calls.contains("mount"))
        XCTAssertFalse(restrictions.calls.contains("fchownat"))
        let file = try temporaryFolder() + "/file"
        try Data().write(to: URL(filePath: file))
        let wrapper = try restrictions.wrapper(of: "/usr/bin/chown")
        let result = try Tool.run(Array(wrapper.dropFirst()) + ["\(getuid())", file], program: wrapper[0])
        XCTAssertEqual(result.status, 128 + SIGSYS, result.errors)
    }

    func testServeLocatesReloadsAndSavesItsMemory() throws {
        let folder = try temporaryFolder()
        let settings = folder + "/settings.json"
        try Data("{}".utf8).write(to: URL(filePath: settings))
        let socket = try NotifySocket(in: folder)
        let service = try service(
            ServiceProcess.walk("one-floor", from: 5) + [
                "--state-directory", folder, "--settings", settings, "--http", "127.0.0.1:0",
            ], environment: ["NOTIFY_SOCKET": socket.path])
        try service.wait(for: "\"type\":\"position\"")
        service.send(SIGHUP)
        try socket.wait(for: "RELOADING=1")
        try socket.wait(for: "READY=1")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        XCTAssertTrue(FileManager.default.fileExists(atPath: folder + "/memory.json"))
    }

    func testServeSharesPositionsOverABroker() throws {
        let broker = try broker()
        let service = try service(
            ServiceProcess.walk("one-floor", from: 5) + [
                "--state-directory", try temporaryFolder(), "--share", "mqtt://127.0.0.1:\(broker.port)/room",
                "--share-name", "filtered", "--once",
            ])
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
    }

    func testServeUploadsThroughItsQueue() async throws {
        let server = try UploadServer("204 No Content")
        defer { server.stop() }
        let folder = try temporaryFolder()
        // SQLite gives a journal to the owner of its database if it runs as root (robustFchown in os_unix.c of SQLite 3.40).
        // The user of the unit isn't root.
        let service = try service(
            ServiceProcess.walk("one-floor", from: 5) + [
                "--state-directory", folder, "--set", "upload.interval=0.2", "--upload-url", server.url + "/records",
                "--upload-beacons", "--upload-positions",
            ], further: geteuid() == 0 ? ["fchown"] : [])
        try await server.wait { records in
            ["beacon", "position"].allSatisfy { type in records.contains { $0.type == type } }
        }
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        XCTAssertTrue(FileManager.default.fileExists(atPath: folder + "/uploads.db"))
    }

    func testServeFetchesItsVenueOverHTTPS() throws {
        let root = try temporaryFolder()
        let published = try Tool.run(["venue", "publish", root, "Fixtures/office"])
        XCTAssertEqual(published.status, 0, published.errors)
        let authority = try TestAuthority(in: try temporaryFolder())
        let server = try NginxServer(
            root: root, folder: try temporaryFolder(), NginxServer.Configuration(identity: authority.identity))
        defer { server.stop() }
        let service = try service([
            "--venue", "1", "--server", server.url(scheme: "https"), "--ca-file", authority.certificate,
            "--cache", try temporaryFolder(), "--state-directory", try temporaryFolder(), "--replay",
            try FixtureFolder("recordings/one-floor").file("scan.jsonl.gz"), "--replay-from", "5",
        ])
        try service.wait(for: "\"type\":\"position\"")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        XCTAssertEqual(try server.stopAndTellRequests().map(\.status).max(), 200)
    }

    func testServeReportsAMissingRadio() throws {
        let service = try service(
            [
                "--venue", try FixtureFolder("office").path, "--state-directory", try temporaryFolder(), "--route",
                "dbus",
            ],
            environment: Self.uncounted)
        try service.waitForError("error")
        service.send(SIGTERM)
        XCTAssertLessThan(try service.end(), 128, "\(service.errors)")
    }

    func testTrackLocatesTags() async throws {
        let broker = try broker()
        let folder = try FixtureFolder("tags/office").path
        let service = try service(
            [
                "--broker", "mqtt://127.0.0.1:\(broker.port)", "--venue", folder, "--state", try temporaryFolder(),
                "--http", "127.0.0.1:0", "--tags", folder + "/../tags.csv",
            ], command: "track", unit: "indoorloc-track.service")
        try service.waitForError("http://")
        let stage = GatewayStage(
            client: try await GatewayClient(port: broker.port), venue: try VenuePacketReader().read(folder).venue)
        try await stage.publish(tag: "C3:00:00:12:AB:34", at: MapPoint(x: 30, y: 6), until: service)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
    }

    // MARK: Privileges

    /// The value of a field of each thread's status, such as `CapPrm`.
    private func field(_ name: String, of service: ServiceProcess) throws -> Set<String> {
        let folder = "/proc/\(service.identifier)/task"
        return Set(
            try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { thread in
                // A thread may have ended since.
                let status = (try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8)) ?? ""
                return status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
                    .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
            })
    }

    func testServeOnARecordingHasNoCapabilities() throws {
        let service = try ServiceProcess(
            ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", try temporaryFolder()])
        try service.wait(for: "\"type\":\"position\"")
        for name in ["CapPrm", "CapEff", "CapInh", "CapAmb"] {
            XCTAssertEqual(try field(name, of: service), ["0000000000000000"], name)
        }
        XCTAssertEqual(try field("NoNewPrivs", of: service), ["1"])
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
    }

    func testServeWithARadioKeepsTheCapabilitiesOfTheRadioOnly() throws {
        let radio: UInt64 = 0x3000
        let own = try XCTUnwrap(UInt64(Self.ownField("CapPrm"), radix: 16))
        // The service waits for its settings. Without a radio, as on most machines of tests, it would end later.
        let settings = try temporaryFolder() + "/settings"
        XCTAssertEqual(mkfifo(settings, 0o600), 0)
        let service = try ServiceProcess(
            [
                "--venue", try FixtureFolder("office").path, "--state-directory", try temporaryFolder(), "--settings",
                settings,
            ], environment: Self.uncounted)
        let writer = try Self.openedForWriting(settings)
        defer { close(writer) }
        let expected = [String(format: "%016lx", own & radio)] as Set
        for name in ["CapPrm", "CapEff"] { XCTAssertEqual(try field(name, of: service), expected, name) }
        for name in ["CapInh", "CapAmb"] { XCTAssertEqual(try field(name, of: service), ["0000000000000000"], name) }
        XCTAssertEqual(try field("NoNewPrivs", of: service), ["1"])
        service.send(SIGKILL)
        XCTAssertEqual(try service.end(), 128 + SIGKILL)
    }

    /// Opens a pipe as soon as another process reads it.
    private static func openedForWriting(_ pipe: String) throws -> Int32 {
        let deadline = ContinuousClock.now + .seconds(Tool.bound)
        while ContinuousClock.now < deadline {
            let file = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if file >= 0 { return file }
            poll(nil, 0, 5)
        }
        throw Tool.Failure.tooSlow("serve: the reading of \(pipe)")
    }

    private static func ownField(_ name: String) throws -> Substring {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        return status.split(separator: "\n").first { $0.hasPrefix(name + ":") }?.split(separator: "\t").last ?? ""
    }

    /// The command from the documentation doesn't set the inheritable capabilities, which a program that is started by
    /// this one could get.
    func testTheDocumentedCommandSetsNoInheritableCapability() throws {
        let readme = try String(contentsOfFile: Checkout.root().appending(path: "README.md").path, encoding: .utf8)
        let line = try XCTUnwrap(readme.split(separator: "\n").first { $0.contains("setcap ") })
        let grant = try XCTUnwrap(line.split(separator: " ").first { $0.hasPrefix("cap_") })
        XCTAssertEqual(grant, "cap_net_raw,cap_net_admin+ep")
    }
}
