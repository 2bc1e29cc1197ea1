import Foundation

/// A real mosquitto on this machine's loopback interface. A test can kill it and restart it on the same port.
package final class MosquittoBroker {
    /// The configuration of a broker: lines of mosquitto's configuration file.
    package struct Configuration {
        /// The lines for the listener.
        package var listener = "allow_anonymous true"
        /// Certificate, key and, if clients need a certificate, their authority; nil for a broker without TLS.
        package var identity: (certificate: String, key: String, clientAuthority: String?)?

        package init(
            listener: String = "allow_anonymous true",
            identity: (certificate: String, key: String, clientAuthority: String?)? = nil
        ) {
            (self.listener, self.identity) = (listener, identity)
        }
    }

    package let port: UInt16
    private var process: Process
    private let folder: String

    /// Starts a broker, and returns once it listens.
    ///
    /// - Parameter folder: the folder for its files.
    package init(folder: String, _ configuration: Configuration = Configuration()) throws {
        // Between the choice of a port and its use, another process may occupy it. The loop then tries another port.
        for _ in 0..<20 {
            let port = try TestPort.free()
            try Data(Self.text(port: port, configuration).utf8).write(to: URL(filePath: folder + "/mosquitto.conf"))
            if let process = try Self.start(folder: folder, port: port) {
                (self.port, self.process, self.folder) = (port, process, folder)
                return
            }
        }
        throw TestPort.Failure(description: "mosquitto did not start: \(Self.log(in: folder))")
    }

    private static func start(folder: String, port: UInt16) throws -> Process? {
        let log = folder + "/mosquitto.log"
        if !FileManager.default.fileExists(atPath: log) { try Data().write(to: URL(filePath: log)) }
        let output = try FileHandle(forWritingTo: URL(filePath: log))
        defer { try? output.close() }
        try output.seekToEnd()
        let process = Process()
        process.executableURL = try TestPort.program("mosquitto", ofPackage: "mosquitto")
        process.arguments = ["-v", "-c", folder + "/mosquitto.conf"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        return try TestPort.start(process, on: port) ? process : nil
    }

    private static func text(port: UInt16, _ configuration: Configuration) -> String {
        var text = "log_dest stderr\nlistener \(port) 127.0.0.1\n\(configuration.listener)\n"
        if let identity = configuration.identity {
            text += "certfile \(identity.certificate)\nkeyfile \(identity.key)\n"
            if let authority = identity.clientAuthority { text += "cafile \(authority)\nrequire_certificate true\n" }
        }
        // As root, it would switch to a user who cannot read the files of a test.
        return getuid() == 0 ? text + "user root\n" : text
    }

    /// Kills the broker without a notice to its clients.
    package func kill() {
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Starts the broker again on the same port, without its previous state.
    package func restart() throws {
        kill()
        guard let process = try Self.start(folder: folder, port: port) else {
            throw TestPort.Failure(description: "mosquitto did not restart: \(log)")
        }
        self.process = process
    }

    /// The broker's log.
    package var log: String { Self.log(in: folder) }

    private static func log(in folder: String) -> String {
        (try? String(contentsOf: URL(filePath: folder + "/mosquitto.log"), encoding: .utf8)) ?? ""
    }
}
