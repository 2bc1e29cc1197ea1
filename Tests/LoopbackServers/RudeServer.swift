import Foundation
import Synchronization

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
        var endless: Set<Int32> = []
        var isStopped = false
    }

    package let port: UInt16
    private let listener: Int32
    private let state = Mutex(State())
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
            state.endless.forEach { shutdown($0, Int32(SHUT_RDWR)) }
        }
        // Wakes the thread that accepts connections, which then closes the socket.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func serve() {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0, !state.withLock({ $0.isStopped }) else { break }
            let request = Self.head(from: connection)
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
        close(listener)
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
