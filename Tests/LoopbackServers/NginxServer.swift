import Foundation

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
            daemon off; master_process off; worker_processes 1; pid \(folder)/nginx.pid;
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

    /// Stops the server after the current requests.
    ///
    /// A signal only sets a flag in nginx. One that arrives between the look at the flag and the wait for the next event has
    /// no effect until then, and a server without connections has no events. Another signal ends the wait.
    package func stop() {
        guard process.isRunning else { return }
        repeat { kill(process.processIdentifier, SIGTERM) } while end.wait(timeout: .now() + 0.2) == .timedOut
        process.waitUntilExit()
    }

    /// Stops the server and returns all requests.
    ///
    /// nginx logs a request after its response, so the log is complete only after the server has ended.
    package func stopAndTellRequests() throws -> [Request] {
        stop()
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
