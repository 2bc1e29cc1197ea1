import Foundation
import IndoorLocalizationTesting

/// A TCP connection to a server on this host, for requests that no well-behaved client sends.
///
/// Its calls block, so tests call them on their own thread, and not in tasks.
final class RawClient {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// A response with its headers by their lowercase names.
    struct Reply {
        let status: Int
        let headers: [String: String]
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    private static let patience = Bounded.longest

    let descriptor: Int32
    private(set) var received: [UInt8] = []
    private(set) var isClosed = false

    /// - Parameter receiveBuffer: the size of the kernel's buffer for received bytes; nil for the default.
    init(port: UInt16, host: String = "127.0.0.1", receiveBuffer: Int32? = nil) throws {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &list) == 0, let address = list else {
            throw Failure(description: "no address \(host)")
        }
        defer { freeaddrinfo(list) }
        descriptor = socket(address.pointee.ai_family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        guard connect(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 else {
            let reason = String(cString: strerror(errno))
            Glibc.close(descriptor)
            throw Failure(description: "connect: \(reason)")
        }
    }

    deinit { Glibc.close(descriptor) }

    var text: String { String(decoding: received, as: UTF8.self) }

    func send(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Receives bytes until the condition holds for the text so far.
    func receive(until isEnough: (String) -> Bool) throws {
        let deadline = ContinuousClock.now + Self.patience
        while !isEnough(text) {
            guard !isClosed else { throw Failure(description: "closed after: \(text.suffix(300))") }
            guard ContinuousClock.now < deadline else {
                throw Failure(description: "timeout after: \(text.suffix(300))")
            }
            receive(waiting: 1_000)
        }
    }

    /// Receives the bytes that are there, or waits for some.
    func receive(waiting milliseconds: Int32) {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&watched, 1, milliseconds) > 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count <= 0 { isClosed = true } else { received += bytes.prefix(count) }
    }

    /// Receives until the server closes the connection.
    func receiveAll() throws {
        let deadline = ContinuousClock.now + Self.patience
        while !isClosed {
            guard ContinuousClock.now < deadline else { throw Failure(description: "not closed: \(text.suffix(300))") }
            receive(waiting: 1_000)
        }
    }

    /// The received bytes as one response.
    func reply() throws -> Reply {
        guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw Failure(description: "no response: '\(text.prefix(300))'")
        }
        let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count > 1, let status = Int(words[1]) else { throw Failure(description: lines[0]) }
        let pairs = lines.dropFirst().map { line in
            let sides = line.split(separator: ":", maxSplits: 1)
            return (sides[0].lowercased(), sides.count > 1 ? String(sides[1].drop { $0 == " " }) : "")
        }
        return Reply(
            status: status, headers: Dictionary(pairs) { $0 + ", " + $1 }, body: Array(received[end.upperBound...]))
    }

    /// Waits until a condition holds.
    static func wait(for awaited: String, until isMet: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + patience
        while try !isMet() {
            guard ContinuousClock.now < deadline else { throw Failure(description: "\(awaited): timeout") }
            poll(nil, 0, 1)
        }
    }

    /// Sends one request on a new connection, and returns its response.
    static func request(
        _ method: String, _ target: String, port: UInt16, host: String? = nil, headers: [String] = [],
        body: String? = nil
    ) throws -> Reply {
        let client = try RawClient(port: port)
        var lines =
            ["\(method) \(target) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")", "Connection: close"] + headers
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        client.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
        try client.receiveAll()
        return try client.reply()
    }

    /// Sends a GET request on a new connection, and returns its response.
    static func get(_ target: String, port: UInt16, host: String? = nil, headers: [String] = []) throws -> Reply {
        try request("GET", target, port: port, host: host, headers: headers)
    }

    /// Returns the status of a GET request to a server that closes silent connections soon: after a pause between the
    /// connection and the request, there is no response, and the request is sent again.
    static func patientStatus(_ target: String, port: UInt16) throws -> Int? {
        var status: Int?
        try wait(for: "a response") {
            status = (try? get(target, port: port))?.status
            return status != nil
        }
        return status
    }

    /// Opens the stream of updates with HTTP/1.0, so that the body has no chunks.
    static func stream(
        _ target: String = "/api/v1/stream", port: UInt16, after id: Int? = nil, headers: [String] = [],
        receiveBuffer: Int32? = nil
    ) throws -> RawClient {
        let client = try RawClient(port: port, receiveBuffer: receiveBuffer)
        let last = id.map { ["Last-Event-ID: \($0)"] } ?? []
        let lines = ["GET \(target) HTTP/1.0", "Host: 127.0.0.1:\(port)"] + last + headers
        client.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        return client
    }

    /// The numbers of the server-sent events that were received whole.
    var eventNumbers: [Int] {
        text.components(separatedBy: "\n\n").dropLast().compactMap { event in
            event.split(separator: "\n").first { $0.hasPrefix("id: ") }.flatMap { Int($0.dropFirst(4)) }
        }
    }
}
