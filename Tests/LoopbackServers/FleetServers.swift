import Foundation
import Synchronization

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

/// A real PostgreSQL server on this machine's loopback interface. A test can kill it and start it again.
package final class PostgreSQLServer: Sendable {
    /// The user that owns all databases, and connects without a password.
    package static let user = "owner"

    package let port: UInt16
    private let process: Mutex<Process>
    private let folder: String

    /// The folder of the programs of the latest installed version of PostgreSQL.
    private static func programs() throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        guard let version = versions.compactMap(Int.init).max() else {
            throw TestPort.Failure(description: "PostgreSQL is missing: install postgresql")
        }
        return "\(root)/\(version)/bin/"
    }

    /// Creates a cluster without the protection against a power failure, starts its server, and returns once the server
    /// accepts connections.
    ///
    /// - Parameters:
    ///   - folder: a folder for the cluster's files.
    ///   - access: lines of `pg_hba.conf` before those that let every user in.
    ///   - identity: certificate and key for TLS; nil for none.
    package init(
        folder: String, access: String = "", identity: (certificate: String, key: String)? = nil
    ) throws {
        let data = folder + "/cluster"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        // The programs refuse to run as root, so they run as the user of Debian's package, who must reach the folder.
        if getuid() == 0 { try Self.give(data, of: folder) }
        try Self.wait(
            for: try Self.process(
                "initdb",
                ["-D", data, "-U", Self.user, "-A", "trust", "-E", "UTF8", "--locale=C", "-N", "--wal-segsize=1"]))
        try Self.replace(data + "/pg_hba.conf", with: access + "\nhost all all 127.0.0.1/32 trust\n")
        if let identity {
            try Self.copy(identity.certificate, to: data + "/server.crt", of: data)
            try Self.copy(identity.key, to: data + "/server.key", of: data)
        }
        // Between the choice of a port and its use, another process may occupy it. The loop then tries another port.
        for _ in 0..<20 {
            let port = try TestPort.free()
            if let process = try Self.start(data, port) {
                (self.port, self.folder) = (port, data)
                self.process = Mutex(process)
                return
            }
        }
        throw TestPort.Failure(description: "postgres did not start in \(data)")
    }

    deinit { stop() }

    /// Returns the address of a database.
    package func address(_ database: String = "postgres", user: String = PostgreSQLServer.user) -> String {
        "postgresql://\(user)@127.0.0.1:\(port)/\(database)"
    }

    /// Kills the server with all its processes, without any notice.
    package func kill() {
        let process = process.withLock(\.self)
        guard process.isRunning else { return }
        let main = process.processIdentifier
        let children = (try? String(contentsOfFile: "/proc/\(main)/task/\(main)/children", encoding: .utf8)) ?? ""
        // The main process first, as it would start new children.
        for id in [main] + children.split(separator: " ").compactMap({ Int32($0) }) { Glibc.kill(id, SIGKILL) }
        process.waitUntilExit()
    }

    /// Stops the server at once, without a checkpoint.
    ///
    /// Unlike a killed one, it leaves no shared memory to the system, which has a limited number of pieces.
    package func stop() {
        let process = process.withLock(\.self)
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGQUIT)
        let deadline = ContinuousClock.now + .seconds(TestPort.bound)
        while process.isRunning, ContinuousClock.now < deadline { poll(nil, 0, 5) }
        kill()
    }

    /// Starts the server again on the same port, with its data.
    package func restart() throws {
        kill()
        // The killed children keep the shared memory until they have gone, which may take long on a busy machine.
        let deadline = ContinuousClock.now + .seconds(TestPort.bound)
        while ContinuousClock.now < deadline {
            guard let process = try Self.start(folder, port) else { continue }
            self.process.withLock { $0 = process }
            return
        }
        throw TestPort.Failure(description: "postgres did not start again in \(folder)")
    }

    private static func start(_ data: String, _ port: UInt16) throws -> Process? {
        var settings = [
            "listen_addresses=127.0.0.1", "port=\(port)", "unix_socket_directories=", "fsync=off",
            "full_page_writes=off", "autovacuum=off", "shared_buffers=16MB",
        ]
        if FileManager.default.fileExists(atPath: data + "/server.key") { settings.append("ssl=on") }
        let process = try process("postgres", ["-D", data] + settings.flatMap { ["-c", $0] })
        guard try TestPort.start(process, on: port) else { return nil }
        // The server listens before it accepts connections. The wait ends if the server ends.
        while process.isRunning {
            let question = try Self.process("pg_isready", ["-q", "-h", "127.0.0.1", "-p", "\(port)", "-t", "20"])
            try ProcessSignals.withAll { try question.run() }
            question.waitUntilExit()
            if question.terminationStatus == 0 { return process }
        }
        return nil
    }

    /// A process of one of PostgreSQL's programs, as a user who may run it.
    private static func process(_ name: String, _ arguments: [String]) throws -> Process {
        let process = Process()
        let program = try programs() + name
        if getuid() == 0 {
            // setpriv replaces itself with the program, so that its process is that of the program.
            process.executableURL = URL(filePath: "/usr/bin/setpriv")
            process.arguments =
                ["--reuid=postgres", "--regid=postgres", "--clear-groups", program] + arguments
        } else {
            process.executableURL = URL(filePath: program)
            process.arguments = arguments
        }
        process.currentDirectoryURL = URL(filePath: "/")
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return process
    }

    private static func wait(for process: Process) throws {
        let errors = Pipe()
        process.standardError = errors
        try ProcessSignals.withAll { try process.run() }
        let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw TestPort.Failure(description: "initdb: \(text)") }
    }

    /// Gives a folder to the user of the programs, who may also pass through the folder above it.
    private static func give(_ path: String, of parent: String) throws {
        guard let user = getpwnam("postgres")?.pointee, chown(path, user.pw_uid, user.pw_gid) == 0,
            chmod(parent, 0o711) == 0
        else { throw TestPort.Failure(description: "\(path) cannot be given to the user postgres") }
    }

    /// Copies a file to the cluster, for the cluster's owner only.
    private static func copy(_ path: String, to copy: String, of data: String) throws {
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        var owner = stat()
        guard stat(data, &owner) == 0, chown(copy, owner.st_uid, owner.st_gid) == 0, chmod(copy, 0o600) == 0 else {
            throw TestPort.Failure(description: "\(copy) cannot be given to the owner of \(data)")
        }
    }

    /// Replaces a file of the cluster, whose owner and permissions stay.
    private static func replace(_ path: String, with text: String) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? file.close() }
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(text.utf8))
    }
}
