import Foundation
import Synchronization

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

/// A server in front of a broker that understands MQTT 3.1.1 only, as brokers before version 5.
package final class OldBrokerProxy: Sendable {
    /// The answer to a connection request of version 5.
    package enum Refusal: Sendable {
        /// The return code of MQTT 3.1.1 for an unacceptable version.
        case returnCode
        /// The end of the connection.
        case end
    }

    private struct State {
        var refused = 0
        var sockets: Set<Int32> = []
        var isStopped = false
    }

    package let port: UInt16
    private let broker: UInt16
    private let listener: Int32
    private let refusal: Refusal
    private let state = Mutex(State())

    /// Starts a server in front of the broker at a port.
    package init(broker: UInt16, _ refusal: Refusal) throws {
        (listener, port) = try TestPort.listen(backlog: 16)
        (self.broker, self.refusal) = (broker, refusal)
        Thread.detachNewThread {
            while true {
                let client = accept(self.listener, nil, nil)
                guard client >= 0, !self.state.withLock({ $0.isStopped }) else { break }
                Thread.detachNewThread { self.serve(client) }
            }
            close(self.listener)
        }
    }

    /// The number of refused connections.
    package var refusedCount: Int { state.withLock { $0.refused } }

    /// Stops the server, and ends all connections.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func serve(_ client: Int32) {
        defer { close(client) }
        var request = [UInt8](repeating: 0, count: 4096)
        let count = recv(client, &request, request.count, 0)
        // The length has one or two bytes; then follow the length and the text of the name, and the version.
        let start = count > 2 && request[1] >= 128 ? 3 : 2
        guard count > start + 6 else { return }
        if request[start + 6] >= 5 {
            state.withLock { $0.refused += 1 }
            if refusal == .returnCode { _ = send(client, [0x20, 2, 0, 1], 4, Int32(MSG_NOSIGNAL)) }
            return
        }
        guard let server = try? TestPort.connect(to: broker) else { return }
        defer { close(server) }
        state.withLock { $0.sockets.formUnion([client, server]) }
        defer { state.withLock { $0.sockets.subtract([client, server]) } }
        guard Self.sendAll(request[..<count], to: server) else { return }
        let back = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            Self.copy(from: server, to: client)
            back.signal()
        }
        Self.copy(from: client, to: server)
        back.wait()
    }

    /// Copies until one end closes, and then ends both directions.
    private static func copy(from source: Int32, to target: Int32) {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(source, &bytes, bytes.count, 0)
            guard count > 0, sendAll(bytes[..<count], to: target) else { break }
        }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
    }

    private static func sendAll(_ bytes: ArraySlice<UInt8>, to target: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
