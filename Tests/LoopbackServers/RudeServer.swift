import Foundation
import Synchronization

/// A server that does what no web server does: it sends given bytes, and closes or falls silent when it should not.
package final class RudeServer: Sendable {
    /// What to do with a request.
    package struct Answer: Sendable {
        /// What is sent, head included.
        package var bytes: [UInt8]
        /// Whether the connection stays open, without another byte.
        package var fallsSilent = false
        /// What is sent behind that again and again, until the other end hangs up; nil for nothing.
        package var endless: Endless?

        /// Bytes without an end.
        package struct Endless: Sendable {
            /// What is sent each time.
            package var bytes: [UInt8]
            /// Milliseconds between two times; 0 for as fast as they are taken.
            package var interval: Int32

            /// Repeats these bytes.
            package init(_ bytes: [UInt8], every interval: Int32 = 0) {
                (self.bytes, self.interval) = (bytes, interval)
            }
        }

        /// An answer of these bytes.
        package init(bytes: [UInt8], fallsSilent: Bool = false) {
            (self.bytes, self.fallsSilent) = (bytes, fallsSilent)
        }

        /// An answer with these header lines, whose body has no end.
        package static func endless(_ lines: String, _ endless: Endless) -> Answer {
            var answer = with(lines)
            answer.endless = endless
            return answer
        }

        /// An answer with these header lines and that body.
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
    /// The heads of all requests, each with the body that it announced.
    package var requests: [String] { state.withLock { $0.requests } }

    /// Ends the server, and all connections.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            state.silent.forEach { close($0) }
            state.silent = []
            // Their threads close them.
            state.endless.forEach { shutdown($0, Int32(SHUT_RDWR)) }
        }
        // Wakes the thread that waits for connections, which then closes the socket.
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
                // Others must not wait for the end of what has none.
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
        // The other end sends nothing more: what can be read is that it hangs up.
        while poll(&watched, 1, endless.interval) == 0, Self.send(endless.bytes, to: connection) {}
        state.withLock { state in
            state.endless.remove(connection)
            close(connection)
        }
    }

    /// Sends; whether all of it was taken.
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

    /// Closes so that what was sent arrives.
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
