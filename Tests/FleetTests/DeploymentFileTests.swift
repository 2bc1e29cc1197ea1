import Foundation
import IndoorLocalizationTesting
import LoopbackServers
import XCTest

/// The systemd units of a fleet.
final class FleetUnitTests: XCTestCase {
    private static let units = [
        "indoorloc-track.service", "indoorloc-fleet-ingest@.service", "indoorloc-fleet-work@.service",
        "indoorloc-fleet-store.service",
    ]

    private func text(_ file: String) throws -> String {
        let folder = try FixtureFolder("../.packaging/" + (file.hasSuffix(".service") ? "systemd" : "fleet"))
        return try String(contentsOfFile: try folder.file(file), encoding: .utf8)
    }

    /// A folder with the units, whose programs are those of the build.
    private func installed() throws -> String {
        let folder = try temporaryFolder()
        let programs = URL(filePath: try FleetProgram.path()).deletingLastPathComponent().path
        for unit in Self.units {
            let text = try text(unit).replacing("/usr/local/bin", with: programs)
            try Data(text.utf8).write(to: URL(filePath: folder + "/" + unit))
        }
        return folder
    }

    private func analyze(_ arguments: [String]) throws -> (status: Int32, text: String) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/systemd-analyze")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    func testTheTestCoversEveryUnit() throws {
        let folder = try FixtureFolder("../.packaging/systemd").path
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        // ServiceUnitTests checks the others.
        let own = files.filter { $0.hasPrefix("indoorloc-fleet-") || $0 == "indoorloc-track.service" }
        XCTAssertEqual(own.sorted(), Self.units.sorted())
    }

    func testSystemdVerifiesTheUnits() throws {
        let folder = try installed()
        let result = try analyze(["verify", "--man=no"] + Self.units.map { folder + "/" + $0 })
        XCTAssertEqual(result.status, 0, result.text)
        // systemd-analyze also reports problems of other units on the machine.
        XCTAssertEqual(result.text.split(separator: "\n").filter { $0.contains("indoorloc") }, [])
    }

    func testSystemdRatesTheUnitsAsProtected() throws {
        let folder = try installed()
        for unit in Self.units {
            // The exposure level is from 0 to 10, here in tenths; below 2 is "OK" for a service on the network.
            let result = try analyze(
                ["security", "--offline=yes", "--no-pager", "--threshold=20", folder + "/" + unit])
            XCTAssertEqual(result.status, 0, "\(unit): \(result.text.suffix(300))")
            let text = try text(unit)
            for line in ["DynamicUser=yes", "ProtectSystem=strict", "NoNewPrivileges=yes", "LimitCORE=0"] {
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

    func testTheProgramAcceptsTheCommandLinesOfTheUnits() throws {
        for unit in Self.units where unit.hasPrefix("indoorloc-fleet") {
            let result = try FleetProgram(try call(unit) + ["--help"], folder: try temporaryFolder()).end()
            XCTAssertEqual(result.status, 0, "\(unit): \(result.errors)")
            XCTAssertTrue(result.output.hasPrefix("usage: indoorloc-fleet \(try call(unit)[0])"), unit)
        }
    }

    func testTheEnvironmentFileHasEveryVariableOfTheUnits() throws {
        let given = try text("fleet.env").split(separator: "\n").filter { !$0.hasPrefix("#") }
            .compactMap { $0.split(separator: "=").first.map(String.init) }
        var count = 0
        for unit in Self.units {
            let used = try text(unit).matches(of: #/\$\{([A-Z_]+)\}/#).map { String($0.output.1) }
            for name in used where name != "CREDENTIALS_DIRECTORY" {
                XCTAssertTrue(given.contains(name), "\(unit): \(name)")
                count += 1
            }
        }
        XCTAssertGreaterThan(count, 0, "the units use variables")
    }
}

/// The configuration files of nats-server for a fleet, with real servers.
final class NATSFileTests: XCTestCase {
    /// A nats-server with a file of the packages and its variables.
    private final class Server {
        let process = Process()
        let log: String

        init(_ file: String, variables: [String: String], log: String) throws {
            self.log = log
            process.executableURL = URL(filePath: "/usr/sbin/nats-server")
            process.arguments = ["-c", file, "-l", log]
            process.environment = ProcessInfo.processInfo.environment.merging(variables) { _, own in own }
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try ProcessSignals.withAll { try process.run() }
        }

        deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

        /// Waits until the log contains a text.
        func wait(for text: String) throws {
            let deadline = ContinuousClock.now + Bounded.longest
            while !lines.contains(text) {
                guard process.isRunning, ContinuousClock.now < deadline else {
                    throw Bounded.Expired(awaited: "\(text) in \(lines)")
                }
                poll(nil, 0, 5)
            }
        }

        var lines: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
    }

    /// The path of a configuration file of the packages.
    private static func file(_ name: String) throws -> String {
        try FixtureFolder("../.packaging/fleet").file(name)
    }

    /// The variables of the environment file of the packages, without quotation marks, as systemd reads them.
    private func variables() throws -> [String: String] {
        let text = try String(contentsOfFile: try Self.file("nats-server.env"), encoding: .utf8)
        let pairs = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let parts = line.split(separator: "=", maxSplits: 1)
            return (String(parts[0]), parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "\"")))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    /// Returns the first line that a server answers to a connection with a password.
    private func answer(port: UInt16, password: String) throws -> String {
        let deadline = ContinuousClock.now + Bounded.longest
        while true {
            let line = try output(
                """
                exec 3<>/dev/tcp/127.0.0.1/\(port); read -r info <&3
                printf 'CONNECT {"verbose":false,"user":"fleet","pass":"\(password)"}\\r\\nPING\\r\\n' >&3; read -r line <&3
                echo "$line"
                """)
            // On a busy machine, the server may not get the password within its two seconds.
            let isLate = line.isEmpty || line.contains("Authentication Timeout")
            if !isLate || ContinuousClock.now > deadline { return line }
        }
    }

    /// Returns what the leader of a server's cluster answers to a question for the account; empty without an answer.
    private func account(port: UInt16) throws -> String {
        try output(
            """
            exec 3<>/dev/tcp/127.0.0.1/\(port); read -r info <&3
            printf 'CONNECT {"verbose":false,"user":"fleet","pass":"change-this-password"}\\r\\n' >&3
            printf 'SUB answer 1\\r\\nPUB $JS.API.INFO answer 0\\r\\n\\r\\n' >&3
            while read -r -t 5 line <&3; do
                case $line in *account_info_response*) echo "$line" && exit ;; esac
            done
            """)
    }

    private func output(_ script: String) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-c", script]
        process.standardOutput = pipe
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func testTheFileOfOneServerStartsAServerWithJetStreamAndAPassword() throws {
        let folder = try temporaryFolder()
        let port = try TestPort.free()
        var variables = try variables()
        variables["NATS_LISTEN"] = "127.0.0.1:\(port)"
        variables["NATS_STORE"] = folder + "/store"
        let server = try Server(
            try Self.file("nats-server.conf"), variables: variables, log: folder + "/log")
        try server.wait(for: "Server is ready")
        try server.wait(for: "Starting JetStream")
        XCTAssertEqual(try answer(port: port, password: "change-this-password"), "PONG")
        XCTAssertTrue(try answer(port: port, password: "wrong").contains("Authorization Violation"))
    }

    func testTheFileOfThreeServersFormsAClusterWithALeader() throws {
        let folder = try temporaryFolder()
        let ports = try (0..<3).map { _ in (client: try TestPort.free(), cluster: try TestPort.free()) }
        let servers = try ports.enumerated().map { index, port in
            var variables = try variables()
            variables["NATS_NAME"] = "fleet-\(index + 1)"
            variables["NATS_LISTEN"] = "127.0.0.1:\(port.client)"
            variables["NATS_STORE"] = "\(folder)/store\(index)"
            variables["NATS_CLUSTER_LISTEN"] = "127.0.0.1:\(port.cluster)"
            for (number, other) in ports.enumerated() {
                variables["NATS_ROUTE_\(number + 1)"] = "nats://127.0.0.1:\(other.cluster)"
            }
            let server = try Server(
                try Self.file("nats-cluster.conf"), variables: variables, log: "\(folder)/log\(index)")
            // Servers that start at the same instant may close each other's routes as duplicates, and elect no leader.
            try server.wait(for: "Listening for route connections")
            return server
        }
        // A server ends with its last use.
        defer { withExtendedLifetime(servers) {} }
        // A server that joined when the others had a leader already doesn't note it, but the leader does.
        let deadline = ContinuousClock.now + Bounded.longest
        while !servers.contains(where: { $0.lines.contains("metadata leader") }) {
            guard ContinuousClock.now < deadline else { throw Bounded.Expired(awaited: servers.map(\.lines).joined()) }
            poll(nil, 0, 5)
        }
        // Only a leader answers.
        for port in ports {
            var answer = ""
            while answer.isEmpty || answer.contains("\"error\"") {
                guard ContinuousClock.now < deadline else { throw Bounded.Expired(awaited: "a leader, not \(answer)") }
                answer = try account(port: port.client)
            }
            XCTAssertTrue(answer.contains("\"storage\":0"), answer)
        }
    }
}
