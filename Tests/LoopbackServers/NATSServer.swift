import Foundation

/// A real nats-server with JetStream on this machine's loopback interface. A test can kill it, stop it for a while, and
/// restart it on the same port with its stored data.
package final class NATSServer {
    /// The port for clients.
    package let port: UInt16
    /// The URL for clients.
    package var url: String { "nats://127.0.0.1:\(port)" }

    private var process: Process
    private let folder: String
    private let arguments: [String]

    /// Starts a server, and returns once it listens.
    ///
    /// - Parameters:
    ///   - folder: the folder for its files.
    ///   - configuration: further lines of nats-server's configuration file.
    ///   - hasJetStream: whether the server stores streams.
    package convenience init(folder: String, configuration: String = "", hasJetStream: Bool = true) throws {
        let port = try TestPort.free()
        try self.init(folder: folder, port: port, configuration: configuration, hasJetStream: hasJetStream)
    }

    private init(folder: String, port: UInt16, configuration: String, hasJetStream: Bool) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var text = "listen: \"127.0.0.1:\(port)\"\nlogfile: \"\(folder)/nats.log\"\n"
        if hasJetStream { text += "jetstream { store_dir: \"\(folder)/store\", max_file_store: 1GB }\n" }
        let path = folder + "/nats.conf"
        try Data((text + configuration).utf8).write(to: URL(filePath: path))
        self.port = port
        self.folder = folder
        arguments = ["-c", path]
        process = try Self.start(arguments, port: port, folder: folder)
    }

    /// Starts the servers of a cluster, and returns once all listen. The cluster has a leader a little later.
    package static func cluster(of count: Int, folder: String) throws -> [NATSServer] {
        let ports = try (0..<count).map { _ in (client: try TestPort.free(), cluster: try TestPort.free()) }
        let routes = ports.map { "\"nats-route://127.0.0.1:\($0.cluster)\"" }.joined(separator: ", ")
        return try ports.enumerated().map { index, port in
            let configuration = """
                server_name: "server\(index)"
                cluster { name: "test", listen: "127.0.0.1:\(port.cluster)", routes: [\(routes)] }

                """
            return try NATSServer(
                folder: "\(folder)/server\(index)", port: port.client, configuration: configuration,
                hasJetStream: true)
        }
    }

    private static func start(_ arguments: [String], port: UInt16, folder: String) throws -> Process {
        let process = Process()
        process.executableURL = try TestPort.program("nats-server", ofPackage: "nats-server")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard try TestPort.start(process, on: port) else {
            let log = (try? String(contentsOfFile: folder + "/nats.log", encoding: .utf8)) ?? ""
            throw TestPort.Failure(description: "nats-server did not start: \(log)")
        }
        return process
    }

    /// The server's log.
    package var log: String { (try? String(contentsOfFile: folder + "/nats.log", encoding: .utf8)) ?? "" }

    /// Kills the server without a notice to its clients.
    package func kill() {
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Starts the server again on the same port, with the data that it has stored.
    package func restart() throws {
        kill()
        process = try Self.start(arguments, port: port, folder: folder)
    }
}
