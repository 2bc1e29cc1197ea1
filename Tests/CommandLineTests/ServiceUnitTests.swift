import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import VenuePackets
import XCTest

/// The systemd units of `indoorloc serve`, and those of the learning from its recordings and from those of `track`.
final class ServiceUnitTests: XCTestCase {
    private static let learning = [
        "indoorloc-learn.service", "indoorloc-learn.timer", "indoorloc-track-learn.service",
        "indoorloc-track-learn.timer",
    ]
    private static let units = ["indoorloc.service", "indoorloc-pass.service", "indoorloc-pass.timer"] + learning
    private static let services = ["indoorloc.service", "indoorloc-pass.service"]

    private func text(_ unit: String) throws -> String {
        String(decoding: try bytes(".packaging/systemd/" + unit), as: UTF8.self)
    }

    func testTheTestCoversEveryUnit() throws {
        let folder = try Checkout.root().appending(path: ".packaging/systemd").path
        let all = try FileManager.default.contentsOfDirectory(atPath: folder)
        // FleetUnitTests checks the others.
        let own = all.filter { !$0.hasPrefix("indoorloc-fleet-") && $0 != "indoorloc-track.service" }
        XCTAssertEqual(own.sorted(), Self.units.sorted())
    }

    func testSystemdVerifiesTheUnits() throws {
        let folder = try temporaryFolder()
        for unit in Self.units {
            // The path of the installed program is replaced with the built one.
            let installed = try text(unit).replacing("/usr/local/bin/indoorloc", with: try Tool.path())
            try Data(installed.utf8).write(to: URL(filePath: folder + "/" + unit))
        }
        let result = try Tool.run(
            ["verify", "--man=no"] + Self.units.map { folder + "/" + $0 }, program: "/usr/bin/systemd-analyze")
        XCTAssertEqual(result.status, 0, result.errors)
        // systemd-analyze also reports problems of other units on the machine.
        let own = result.errors.split(separator: "\n").filter { $0.contains("indoorloc") }
        XCTAssertEqual(own, [])
    }

    func testSystemdRatesTheUnitsAsProtected() throws {
        let folder = try Checkout.root().appending(path: ".packaging/systemd").path
        for unit in Self.units where unit.hasSuffix(".service") {
            // The exposure level is from 0 to 10, here in tenths; below 2 is "OK" for a service on the network.
            let result = try Tool.run(
                ["security", "--offline=yes", "--no-pager", "--threshold=20", "\(folder)/\(unit)"],
                program: "/usr/bin/systemd-analyze")
            XCTAssertEqual(result.status, 0, "\(unit): \(result.output.suffix(300))")
            let text = try text(unit)
            for line in ["DynamicUser=yes", "PrivateDevices=yes", "NoNewPrivileges=yes", "LimitCORE=0"] {
                XCTAssertTrue(text.contains("\n\(line)\n"), "\(unit): \(line)")
            }
            for name in ["MemoryMax", "TasksMax"] { XCTAssertTrue(text.contains("\n\(name)="), "\(unit): \(name)") }
        }
    }

    /// The arguments of a unit's command line, without the program.
    private func call(_ unit: String) throws -> [String] {
        let joined = try text(unit).replacing("\\\n", with: " ")
        let start = try XCTUnwrap(joined.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        return start.split(separator: " ").dropFirst().map(String.init)
    }

    func testThePassUnitUsesTheFilesOfTheService() throws {
        let calls = try ["indoorloc.service", "indoorloc-pass.service"].map { unit in
            let call = try call(unit)
            return ["--venue", "--settings", "--output"].map { option in
                call.firstIndex(of: option).flatMap { call.dropFirst($0 + 1).first }
            }
        }
        XCTAssertEqual(calls[0], calls[1])
        XCTAssertFalse(calls[0].contains(nil), "\(calls[0])")
        for folder in ["StateDirectory", "CacheDirectory", "LogsDirectory"] {
            for unit in Self.services {
                XCTAssertTrue(try text(unit).contains("\n\(folder)=indoorloc\n"), "\(unit): \(folder)")
            }
        }
        // Both units share one memory.
        XCTAssertTrue(try text("indoorloc-pass.service").contains("\nConflicts=indoorloc.service\n"))
        XCTAssertTrue(try text("indoorloc-pass.timer").contains("\nConflicts=indoorloc.service\n"))
    }

    func testAUsageErrorIsNotRestarted() throws {
        let status = try Tool.run(["serve", "--venue"]).status
        XCTAssertTrue(try text("indoorloc.service").contains("\nRestartPreventExitStatus=\(status)\n"), "\(status)")
        XCTAssertNotEqual(status, try Tool.run(["serve", "--venue", "/nowhere"]).status, "a venue may come yet")
    }

    func testTheToolAcceptsTheCommandLinesOfTheUnits() throws {
        for (unit, command) in Self.services.map({ ($0, "serve") })
            + [("indoorloc-learn.service", "survey"), ("indoorloc-track-learn.service", "survey")]
        {
            let result = try Tool.run(try call(unit) + ["--help"])
            XCTAssertEqual(result.status, 0, "\(unit): \(result.errors)")
            XCTAssertTrue(result.output.hasPrefix("usage: indoorloc \(command)"), unit)
        }
    }

    /// The learning reads what the service may read only, and sends nothing.
    func testTheLearningSharesTheUserOfTheServicesWithoutTheirNetwork() throws {
        let unit = try text("indoorloc-learn.service")
        for line in ["User=indoorloc", "StateDirectory=indoorloc", "PrivateNetwork=yes", "CapabilityBoundingSet="] {
            XCTAssertTrue(unit.contains("\n\(line)\n"), line)
        }
        XCTAssertTrue(try text("indoorloc-pass.service").contains("\nUser=indoorloc\n"))
        // systemd names the dynamic user of a unit without `User=` after the unit.
        XCTAssertFalse(try text("indoorloc.service").contains("\nUser="))
        let venue = try call("indoorloc-learn.service").drop { $0 != "--venue" }.dropFirst().first
        XCTAssertEqual(venue, try call("indoorloc.service").drop { $0 != "--venue" }.dropFirst().first)
    }

    /// `UnitRestrictionTests` runs the learning of sessions only: both units permit the same.
    func testTheLearningFromTagsIsThatFromSessionsForTheOtherService() throws {
        let unit = try text("indoorloc-track-learn.service")
        for line in [
            "User=indoorloc-track", "StateDirectory=indoorloc-track", "RuntimeDirectory=indoorloc-track-learn",
        ] {
            XCTAssertTrue(unit.contains("\n\(line)\n"), line)
        }
        XCTAssertTrue(try text("indoorloc-track.service").contains("\nStateDirectory=indoorloc-track\n"))
        XCTAssertFalse(try text("indoorloc-track.service").contains("\nUser="))
        func limits(_ unit: String) throws -> [Substring] {
            // What only its user and its folders distinguish.
            try text(unit).split(separator: "\n").filter {
                !$0.hasPrefix("#") && !$0.hasPrefix("Exec") && !$0.contains("indoorloc")
                    && !$0.hasPrefix("Description=")
            }
        }
        XCTAssertEqual(try limits("indoorloc-track-learn.service"), try limits("indoorloc-learn.service"))
        XCTAssertEqual(try limits("indoorloc-track-learn.timer"), try limits("indoorloc-learn.timer"))
        let calls = try ["indoorloc-learn.service", "indoorloc-track-learn.service"].map { unit in
            try call(unit).filter { $0 != "--tags" }.map { $0.replacing("%S/indoorloc-track/", with: "%S/indoorloc/") }
        }
        XCTAssertEqual(calls[0], calls[1])
        XCTAssertTrue(try call("indoorloc-track-learn.service").contains("--tags"))
        let venue = try call("indoorloc-track-learn.service").drop { $0 != "--venue" }.dropFirst().first
        XCTAssertEqual(venue, try call("indoorloc-track.service").drop { $0 != "--venue" }.dropFirst().first)
        XCTAssertTrue(unit.contains("systemctl try-restart indoorloc-track.service'\n"))
    }
}

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
            ServiceProcess.endlessWalk("one-floor", from: 5) + [
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
            ServiceProcess.endlessWalk("one-floor", from: 5) + [
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
        let service = try service(
            [
                "--venue", "1", "--server", server.url(scheme: "https"), "--ca-file", authority.certificate,
                "--cache", try temporaryFolder(), "--state-directory", try temporaryFolder(),
            ] + ServiceProcess.endlessWalk("one-floor", from: 5).dropFirst(2))
        try service.wait(for: "\"type\":\"position\"")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        XCTAssertEqual(try server.stopAndTellRequests().map(\.status).max(), 200)
    }

    func testTheLearningWritesItsPacket() throws {
        let learned = try temporaryFolder() + "/learned"
        let office = try FixtureFolder("office")
        let service = try service(
            [
                "--self", "--lenient", "--jobs", "1", "--force", "--venue", office.path, "--output", learned,
                "--overwrite", office.file("tracks/ground.jsonl"), office.file("tracks/upper.jsonl"),
            ], command: "survey", unit: "indoorloc-learn.service")
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        XCTAssertTrue(FileManager.default.fileExists(atPath: learned + "/venue.json"))
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
            ServiceProcess.endlessWalk("one-floor", from: 5) + ["--state-directory", try temporaryFolder()])
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

/// The services of a fleet under the system calls and socket families that their systemd units permit. A forbidden call
/// ends the process with SIGSYS.
final class FleetRestrictionTests: XCTestCase {
    private static func program() throws -> String {
        URL(filePath: try Tool.path()).deletingLastPathComponent().appending(path: "indoorloc-fleet").path
    }

    private func service(_ command: String, unit: String, _ arguments: [String]) throws -> ServiceProcess {
        try ServiceProcess(
            arguments, command: command, wrapper: try UnitRestrictions(unit).wrapper(of: try Self.program()))
    }

    /// Subscribes to the positions of all tags; the stream ends with the test.
    private func positions(_ port: UInt16) async throws -> AsyncStream<MQTTLinkEvent> {
        let (link, events) = MQTTLink.open(
            MQTTBroker(host: "127.0.0.1", port: port), clientID: "reader", will: nil, keepAliveSeconds: 60)
        addTeardownBlock { link.ask(.close) }
        link.ask(.subscribe("indoorloc/v1/tags/+/position", .atLeastOnce))
        _ = try await Bounded.wait(for: "the subscription") {
            await events.first { if case .subscribed = $0 { true } else { false } }
        }
        return events
    }

    func testAFleetLocatesTagsAndStoresTheirPositions() async throws {
        let nats = try NATSServer(folder: try temporaryFolder())
        defer { nats.kill() }
        let database = try PostgreSQLServer(folder: try temporaryFolder())
        defer { database.stop() }
        let broker = try broker()
        let setup = try Tool.run(["setup", "--nats", nats.url], program: try Self.program())
        XCTAssertEqual(setup.status, 0, setup.errors)
        let (venue, address) = (try FixtureFolder("tags/office").path, "mqtt://127.0.0.1:\(broker.port)")
        let store = try service(
            "store", unit: "indoorloc-fleet-store.service",
            ["--nats", nats.url, "--database", database.address(), "--create"])
        let work = try service(
            "work", unit: "indoorloc-fleet-work@.service",
            ["--nats", nats.url, "--venue", venue, "--outputs", "nats", "--outputs", address, "--http", "127.0.0.1:0"])
        let ingest = try service(
            "ingest", unit: "indoorloc-fleet-ingest@.service",
            ["--nats", nats.url, "--broker", address, "--http", "127.0.0.1:0"])
        try ingest.waitForError("granted")
        try store.waitForError("connected to the database")
        let positions = try await positions(broker.port)
        let stage = GatewayStage(
            client: try await GatewayClient(port: broker.port), venue: try VenuePacketReader().read(venue).venue)
        // The messages before the first lease of ingest are lost.
        let gateways = Task {
            while !Task.isCancelled { try await stage.publish(tag: "C3:00:00:12:AB:01", at: MapPoint(x: 30, y: 6)) }
        }
        defer { gateways.cancel() }
        _ = try await Bounded.wait(for: "a position") {
            await positions.first { if case .received = $0 { true } else { false } }
        }
        for service in [ingest, work, store] {
            service.send(SIGTERM)
            XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        }
    }
}

/// The system calls, socket families and capabilities that a systemd unit permits, read from its file.
struct UnitRestrictions {
    /// The permitted system calls.
    let calls: Set<String>
    /// The numbers of the permitted socket families.
    let families: Set<Int32>
    /// The capabilities, as bits by their number.
    let capabilities: UInt64

    struct UnknownWord: Error {
        let word: String
    }

    private static let familyNumbers: [String: Int32] = [
        "AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16, "AF_BLUETOOTH": 31,
    ]

    private static let capabilityNumbers: [String: UInt64] = ["CAP_NET_ADMIN": 12, "CAP_NET_RAW": 13]

    /// Reads a unit of the packages. Later lines add calls, or remove those after `~`.
    init(_ unit: String) throws {
        let file = try Checkout.root().appending(path: ".packaging/systemd/" + unit)
        let text = try String(contentsOf: file, encoding: .utf8)
        var calls: Set<String> = []
        var families: Set<Int32> = []
        var capabilities: UInt64 = 0
        for line in text.split(separator: "\n") {
            if line.hasPrefix("SystemCallFilter=") {
                let value = line.dropFirst("SystemCallFilter=".count)
                let isRemoved = value.hasPrefix("~")
                for word in (isRemoved ? value.dropFirst() : value).split(separator: " ") {
                    let named = try Self.calls(in: String(word))
                    if isRemoved { calls.subtract(named) } else { calls.formUnion(named) }
                }
            }
            if line.hasPrefix("CapabilityBoundingSet=") {
                for word in line.dropFirst("CapabilityBoundingSet=".count).split(separator: " ") {
                    guard let number = Self.capabilityNumbers[String(word)] else {
                        throw UnknownWord(word: String(word))
                    }
                    capabilities |= 1 << number
                }
            }
            if line.hasPrefix("RestrictAddressFamilies=") {
                for word in line.dropFirst("RestrictAddressFamilies=".count).split(separator: " ") {
                    guard let number = Self.familyNumbers[String(word)] else { throw UnknownWord(word: String(word)) }
                    families.insert(number)
                }
            }
        }
        (self.calls, self.families, self.capabilities) = (calls, families, capabilities)
    }

    /// Returns the system calls of a group of systemd, such as `@system-service`, or the call itself.
    private static func calls(in word: String) throws -> Set<String> {
        guard word.hasPrefix("@") else { return [word] }
        let result = try Tool.run(["--no-pager", "syscall-filter", word], program: "/usr/bin/systemd-analyze")
        guard result.status == 0 else { throw UnknownWord(word: word) }
        var calls: Set<String> = []
        for line in result.lines.dropFirst() {
            let name = line.trimmingCharacters(in: .whitespaces)
            if name.isEmpty || name.hasPrefix("#") { continue }
            calls.formUnion(try Self.calls(in: name))
        }
        return calls
    }

    /// The program that applies the restrictions, and its arguments before those of the restricted program.
    ///
    /// - Parameter further: calls that the test permits in addition to the unit.
    func wrapper(of program: String, further: Set<String> = []) throws -> [String] {
        let folder = URL(filePath: try Tool.path()).deletingLastPathComponent()
        return [
            folder.appending(path: "FilteredProgram").path, calls.union(further).sorted().joined(separator: ","),
            families.sorted().map(String.init).joined(separator: ","),
            String(capabilities, radix: 16), program,
        ]
    }
}
