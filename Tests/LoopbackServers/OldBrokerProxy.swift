import Foundation
import Synchronization

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
