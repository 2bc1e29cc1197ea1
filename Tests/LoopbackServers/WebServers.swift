import Foundation
import Synchronization

/// A real nginx on this machine's loopback interface, which serves a folder.
package final class NginxServer {
    /// A request that the server has answered.
    package struct Request: Equatable {
        package var path: String
        package var status: Int
        /// The request's `Range` header; empty if it had none.
        package var range: String
        package var unless: String
        package var authorization: String
        /// The encoding of the response's body; empty if it had none.
        package var encoding: String
    }

    /// The configuration of a server: lines of nginx's configuration file.
    package struct Configuration {
        /// The lines within `http`, beside the server.
        package var http = ""
        /// The lines within the server.
        package var server = ""
        /// The lines within `location /`.
        package var location = ""
        /// Certificate and key for TLS; nil for plain HTTP.
        package var identity: (certificate: String, key: String)?

        package init(
            http: String = "", server: String = "", location: String = "",
            identity: (certificate: String, key: String)? = nil
        ) {
            (self.http, self.server, self.location, self.identity) = (http, server, location, identity)
        }
    }

    package let port: UInt16
    private let process: Process
    /// Signalled at the end of the process.
    private let end: DispatchSemaphore
    private let folder: String

    /// Starts a server, and returns once it answers.
    ///
    /// - Parameter folder: the folder for its files.
    package init(root: String, folder: String, _ configuration: Configuration = Configuration()) throws {
        // Between the choice of a port and its use, another process may occupy it. The loop then tries another port.
        for _ in 0..<20 {
            let (port, end) = (try TestPort.free(), DispatchSemaphore(value: 0))
            if let process = try Self.start(root: root, folder: folder, port: port, configuration, end) {
                (self.port, self.process, self.end, self.folder) = (port, process, end, folder)
                return
            }
        }
        let log = (try? String(contentsOf: URL(filePath: folder + "/error.log"), encoding: .utf8)) ?? ""
        throw TestPort.Failure(description: "nginx did not start: \(log)")
    }

    private static func start(
        root: String, folder: String, port: UInt16, _ configuration: Configuration, _ end: DispatchSemaphore
    ) throws -> Process? {
        let file = folder + "/nginx.conf"
        try Data(text(root: root, folder: folder, port: port, configuration).utf8).write(to: URL(filePath: file))
        let process = Process()
        process.executableURL = try TestPort.program("nginx", ofPackage: "nginx-light")
        process.arguments = ["-p", folder, "-c", file, "-e", folder + "/error.log"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.terminationHandler = { _ in end.signal() }
        return try TestPort.start(process, on: port) ? process : nil
    }

    private static func text(root: String, folder: String, port: UInt16, _ configuration: Configuration) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
        var tls = ""
        if let identity = configuration.identity {
            tls = "ssl_certificate \(identity.certificate); ssl_certificate_key \(identity.key);"
        }
        return """
            daemon off; worker_processes 1; pid \(folder)/nginx.pid; \(geteuid() == 0 ? "user root;" : "")
            events { worker_connections 64; }
            http {
                \(temporary.joined(separator: " "))
                types { application/json json; application/zip zip; image/png png; }
                log_format test escape=none '$uri\t$status\t$http_range\t$http_if_none_match\t$http_authorization\t$sent_http_content_encoding';
                access_log \(folder)/access.log test;
                \(configuration.http)
                server {
                    listen 127.0.0.1:\(port)\(configuration.identity == nil ? "" : " ssl");
                    root \(root);
                    \(tls)
                    \(configuration.server)
                    location / { \(configuration.location) }
                }
            }
            """
    }

    /// Returns the address of the folder that is served.
    package func url(scheme: String = "http") -> String { "\(scheme)://127.0.0.1:\(port)" }

    /// Stops the server at once.
    package func stop() {
        guard process.isRunning else { return }
        repeat { kill(process.processIdentifier, SIGTERM) } while end.wait(timeout: .now() + 0.2) == .timedOut
        process.waitUntilExit()
    }

    /// Stops the server after the current requests, and returns all requests.
    ///
    /// nginx logs a request after its response, and after it has read the rest of the request's body. So the log is complete
    /// only after the server has ended, and only if the server ended by itself.
    package func stopAndTellRequests() throws -> [Request] {
        if process.isRunning {
            kill(process.processIdentifier, SIGQUIT)
            // A client that neither reads nor closes its connection doesn't let the server end.
            if end.wait(timeout: .now() + 30) == .success { process.waitUntilExit() } else { stop() }
        }
        let log = try String(contentsOf: URL(filePath: folder + "/access.log"), encoding: .utf8)
        return log.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map {
                $0 == "-" ? "" : String($0)
            }
            guard fields.count == 6, let status = Int(fields[1]) else { return nil }
            return Request(
                path: fields[0], status: status, range: fields[2], unless: fields[3], authorization: fields[4],
                encoding: fields[5])
        }
    }
}

/// A server that misbehaves on purpose: it sends arbitrary bytes, and closes connections or stops sending at any time.
package final class RudeServer: Sendable {
    /// The answer to a request.
    package struct Answer: Sendable {
        /// The bytes to send, including the head.
        package var bytes: [UInt8]
        /// Whether the connection then stays open without another byte.
        package var fallsSilent = false
        /// The bytes to send repeatedly after that, until the client closes the connection; nil for none.
        package var endless: Endless?

        /// An endless sequence of bytes.
        package struct Endless: Sendable {
            /// The bytes of one repetition.
            package var bytes: [UInt8]
            /// The milliseconds between two repetitions; 0 for as fast as the client receives.
            package var interval: Int32

            /// Creates a repetition of these bytes.
            package init(_ bytes: [UInt8], every interval: Int32 = 0) {
                (self.bytes, self.interval) = (bytes, interval)
            }
        }

        /// Creates an answer of these bytes.
        package init(bytes: [UInt8], fallsSilent: Bool = false) {
            (self.bytes, self.fallsSilent) = (bytes, fallsSilent)
        }

        /// Returns an answer with these header lines and an endless body.
        package static func endless(_ lines: String, _ endless: Endless) -> Answer {
            var answer = with(lines)
            answer.endless = endless
            return answer
        }

        /// Returns an answer with these header lines and that body.
        package static func with(_ lines: String, _ body: [UInt8] = [], fallsSilent: Bool = false) -> Answer {
            let head = lines.replacing("\n", with: "\r\n") + "\r\nConnection: close\r\n\r\n"
            return Answer(bytes: Array(head.utf8) + body, fallsSilent: fallsSilent)
        }
    }

    private struct State {
        var requests: [String] = []
        var silent: [Int32] = []
        /// The connections whose threads wait for a request.
        var reading: Set<Int32> = []
        var endless: Set<Int32> = []
        var isStopped = false
    }

    package let port: UInt16
    private let listener: Int32
    private let state = Mutex(State())
    private let turn = NSLock()
    private let answer: @Sendable (_ path: String, _ request: String) -> Answer

    /// Starts a server.
    package init(_ answer: @escaping @Sendable (_ path: String, _ request: String) -> Answer) throws {
        (listener, port) = try TestPort.listen(backlog: 16)
        self.answer = answer
        Thread.detachNewThread { self.serve() }
    }

    package var url: String { "http://127.0.0.1:\(port)" }
    /// The heads of all requests, each with its body of the announced length.
    package var requests: [String] { state.withLock { $0.requests } }

    /// Stops the server, and closes all connections.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            state.silent.forEach { close($0) }
            state.silent = []
            // Their threads close them.
            state.reading.union(state.endless).forEach { shutdown($0, Int32(SHUT_RDWR)) }
        }
        // Wakes the thread that accepts connections, which then closes the socket.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func serve() {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { break }
            let isStopped = state.withLock { state in
                if !state.isStopped { state.reading.insert(connection) }
                return state.isStopped
            }
            guard !isStopped else {
                close(connection)
                break
            }
            // A browser opens connections for later requests: the others must not wait for these.
            Thread.detachNewThread { self.serve(connection) }
        }
        close(listener)
    }

    private func serve(_ connection: Int32) {
        let request = Self.head(from: connection)
        state.withLock { _ = $0.reading.remove(connection) }
        guard !request.isEmpty else {
            close(connection)
            return
        }
        // One answer after the other.
        turn.lock()
        defer { turn.unlock() }
        let path = request.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        state.withLock { $0.requests.append(request) }
        let answer = answer(path, request)
        let isTaken = Self.send(answer.bytes, to: connection)
        if let endless = answer.endless, isTaken {
            // Other requests must not wait for the end of an endless answer.
            state.withLock { _ = $0.endless.insert(connection) }
            Thread.detachNewThread { self.pour(endless, into: connection) }
        } else if answer.fallsSilent {
            state.withLock { $0.silent.append(connection) }
        } else {
            Self.end(connection)
        }
    }

    private func pour(_ endless: Answer.Endless, into connection: Int32) {
        var watched = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
        // The client sends nothing more, so only the end of the connection makes the socket readable.
        while poll(&watched, 1, endless.interval) == 0, Self.send(endless.bytes, to: connection) {}
        state.withLock { state in
            state.endless.remove(connection)
            close(connection)
        }
    }

    /// Sends bytes, and returns whether all of them were sent.
    private static func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Closes the connection so that all sent bytes arrive.
    private static func end(_ connection: Int32) {
        shutdown(connection, Int32(SHUT_WR))
        var byte: UInt8 = 0
        while recv(connection, &byte, 1, 0) > 0 {}
        close(connection)
    }

    private static func head(from connection: Int32) -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]), recv(connection, &byte, 1, 0) == 1 {
            bytes.append(byte)
        }
        let head = String(decoding: bytes, as: UTF8.self)
        let length = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.split(separator: ":")[1].filter(\.isNumber)) }
        guard let length, length > 0 else { return head }
        var body = [UInt8](repeating: 0, count: length)
        let count = recv(connection, &body, length, Int32(MSG_WAITALL))
        return head + String(decoding: body.prefix(max(0, count)), as: UTF8.self)
    }
}
