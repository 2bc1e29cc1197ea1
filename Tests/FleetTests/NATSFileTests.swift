import Foundation
import IndoorLocalizationTesting
import LoopbackServers
import XCTest

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

        private var lines: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
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
        let script = """
            exec 3<>/dev/tcp/127.0.0.1/\(port); read -r info <&3
            printf 'CONNECT {"verbose":false,"user":"fleet","pass":"\(password)"}\\r\\nPING\\r\\n' >&3; read -r line <&3
            echo "$line"
            """
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
        for server in servers { try server.wait(for: "metadata leader") }
    }
}
