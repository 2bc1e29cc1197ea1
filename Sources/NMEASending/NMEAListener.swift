import Glibc
import IndoorVocabulary

/// A server that sends all positions to each program that connects.
struct NMEAListener: Sendable {
    private struct Client: Sendable {
        let descriptor: Int32
        var queue = CycleQueue()
        var isSlow = false
    }

    /// The maximum number of connections; a further one is closed at once.
    static let largestCount = 16
    /// The pause after a connection that couldn't be accepted, for example because no descriptor was free.
    private static let acceptPause = Duration.seconds(1)

    /// The destination, with the port that was chosen for port 0.
    let destination: NMEADestination
    private let descriptor: Int32
    private var clients: [Client] = []
    /// Whether no connection is accepted until `acceptsAgain`.
    private var isPaused = false
    private var acceptsAgain = Instant.zero
    private var statuses: [NMEAStatus] = []

    /// Listens at the address.
    ///
    /// - Throws: `NMEAError` if the address is in use or can't be used.
    init(_ destination: NMEADestination) throws(NMEAError) {
        switch destination {
        case .tcpListener(let host, let port):
            var failure = NMEAError.unreachable(destination, number: EADDRNOTAVAIL)
            for address in try SystemAddress.all(host, port, SOCK_STREAM, for: destination) {
                do throws(NMEAError) {
                    descriptor = try Self.listen(address, destination)
                    let bound = Self.port(of: descriptor) ?? port
                    self.destination = .tcpListener(host: host, port: bound)
                    return
                } catch { failure = error }
            }
            throw failure
        case .unixListener(let path):
            guard let address = SystemAddress(path: path) else { throw .invalidAddress(destination.description) }
            try Self.removeLeftover(address, path, destination)
            descriptor = try Self.listen(address, destination)
            self.destination = destination
        case .udp, .tcp, .file: preconditionFailure("\(destination) doesn't listen")
        }
    }

    var isIdle: Bool { clients.allSatisfy(\.queue.isEmpty) }

    /// The instant at which the server has work even without an event; nil if there is none.
    var wake: Instant? { isPaused ? acceptsAgain : nil }

    /// The descriptors to wait for, with their events: the server first, and then the clients.
    var watched: [pollfd] {
        [pollfd(fd: descriptor, events: isPaused ? 0 : Int16(POLLIN), revents: 0)]
            + clients.map { client in
                pollfd(
                    fd: client.descriptor, events: Int16(POLLIN) | (client.queue.isEmpty ? 0 : Int16(POLLOUT)),
                    revents: 0)
            }
    }

    mutating func append(_ cycle: [UInt8]) {
        for index in clients.indices {
            clients[index].queue.append(cycle)
            if clients[index].queue.lost > 0, !clients[index].isSlow {
                clients[index].isSlow = true
                statuses.append(.readerTooSlow)
            }
        }
    }

    mutating func drainStatuses() -> [NMEAStatus] {
        defer { statuses = [] }
        return statuses
    }

    mutating func close() {
        for client in clients { Glibc.close(client.descriptor) }
        clients = []
        if case .unixListener(let path) = destination { unlink(path) }
        Glibc.close(descriptor)
    }

    /// Accepts connections, and writes the queued sentences.
    ///
    /// - Parameter events: the events of the descriptors in `watched`.
    mutating func advance(_ events: [pollfd], at now: Instant) {
        var gone: Set<Int32> = []
        for event in events.dropFirst() where event.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 {
            if !NMEAConnection.discardInput(of: event.fd) { gone.insert(event.fd) }
        }
        for index in clients.indices where !gone.contains(clients[index].descriptor) {
            if !Self.write(&clients[index]) { gone.insert(clients[index].descriptor) }
        }
        clients.removeAll { gone.contains($0.descriptor) }
        for descriptor in gone { Glibc.close(descriptor) }
        if acceptsAgain <= now { isPaused = false }
        if let server = events.first, server.revents != 0 { accept(at: now) }
    }

    /// Accepts the connections that wait.
    private mutating func accept(at now: Instant) {
        while true {
            let client = Glibc.accept(descriptor, nil, nil)
            guard client >= 0 else {
                if errno != EAGAIN, errno != EINTR, errno != ECONNABORTED {
                    isPaused = true
                    acceptsAgain = now.advanced(by: Self.acceptPause)
                }
                return
            }
            // accept4 is not available in Swift.
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            _ = fcntl(client, F_SETFL, O_NONBLOCK)
            if clients.count < Self.largestCount {
                clients.append(Client(descriptor: client))
            } else {
                Glibc.close(client)
            }
        }
    }

    /// Writes what a client accepts; returns whether it is still connected.
    private static func write(_ client: inout Client) -> Bool {
        while !client.queue.isEmpty {
            let piece = client.queue.next()
            let count = piece.withUnsafeBytes {
                Glibc.send(client.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                client.queue.consume(count)
            } else if errno != EINTR {
                return errno == EAGAIN
            }
        }
        client.isSlow = false
        _ = client.queue.drainLosses()
        return true
    }

    private static func listen(
        _ address: SystemAddress, _ destination: NMEADestination
    ) throws(NMEAError) -> Int32 {
        let descriptor = address.socket(SOCK_STREAM)
        guard descriptor >= 0 else { throw .unreachable(destination, number: errno) }
        var value: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &value, socklen_t(MemoryLayout<Int32>.size))
        var isBound = address.with { bind(descriptor, $0, $1) } == 0
        // The owner and its group may read the positions. The mode is set before the socket listens, so that nobody
        // else can connect.
        if isBound, case .unixListener(let path) = destination { isBound = chmod(path, 0o660) == 0 }
        guard isBound, Glibc.listen(descriptor, 8) == 0 else {
            let number = errno
            Glibc.close(descriptor)
            throw number == EADDRINUSE ? .addressInUse(destination) : .unreachable(destination, number: number)
        }
        return descriptor
    }

    /// Removes a socket that a killed process has left. Nothing else at the path is removed.
    private static func removeLeftover(
        _ address: SystemAddress, _ path: String, _ destination: NMEADestination
    ) throws(NMEAError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .addressInUse(destination) }
        let probe = address.socket(SOCK_STREAM)
        guard probe >= 0 else { throw .unreachable(destination, number: errno) }
        defer { Glibc.close(probe) }
        guard address.with({ connect(probe, $0, $1) }) != 0, errno == ECONNREFUSED else {
            throw .addressInUse(destination)
        }
        unlink(path)
    }

    private static func port(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        // Both kinds of addresses have the port after the two bytes of the family.
        return status == 0
            ? withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) }
            : nil
    }
}
