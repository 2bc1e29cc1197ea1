import Glibc
import IndoorVocabulary

/// The connection of a sender to one reader: datagrams, TCP, or a file.
///
/// After a failure, it is opened again with increasing pauses. No call blocks, except for the resolution of a host's
/// name.
struct NMEAConnection: Sendable {
    private enum State: Sendable {
        case closed(retry: Instant)
        case connecting(Int32, until: Instant)
        case open(Int32)
    }

    private static let firstPause = Duration.milliseconds(250)
    private static let longestPause = Duration.seconds(5)
    /// The time limit of the connection to a host that doesn't answer.
    private static let connectionTime = Duration.seconds(10)

    private let destination: NMEADestination
    private let names: @Sendable (_ host: String) -> [String]
    private var state = State.closed(retry: .zero)
    /// The addresses of the host that weren't tried yet.
    private var untried: ArraySlice<SystemAddress> = []
    /// Whether the host has several addresses. A program often reads at one of them only, such as at the address of IPv4 of
    /// `localhost`, whose first address is that of IPv6.
    private var hasAlternatives = false
    private var queue = CycleQueue()
    private var backoff: Backoff
    private var log: StatusLog
    /// The changes since the last call of `drainStatuses()`.
    private var statuses: [NMEAStatus] = []

    /// - Parameter names: returns the names or addresses that a host stands for.
    init(_ destination: NMEADestination, names: @escaping @Sendable (_ host: String) -> [String], seed: UInt64) {
        self.destination = destination
        self.names = names
        log = StatusLog(isDatagram: destination.isDatagram)
        backoff = Backoff(first: Self.firstPause, seed: seed)
    }

    private var isDatagram: Bool { destination.isDatagram }
    private var isStream: Bool { if case .tcp = destination { true } else { false } }

    /// Whether nothing is left to write, or nothing can be written now.
    var isIdle: Bool {
        if case .closed = state { true } else { queue.isEmpty }
    }

    /// The descriptors to wait for, with their events.
    var watched: [pollfd] {
        switch state {
        case .closed: []
        case .connecting(let descriptor, _): [pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)]
        case .open(let descriptor):
            [
                pollfd(
                    fd: descriptor, events: (isStream ? Int16(POLLIN) : 0) | (queue.isEmpty ? 0 : Int16(POLLOUT)),
                    revents: 0)
            ]
        }
    }

    /// The instant at which the connection has work even without an event; nil if there is none.
    var wake: Instant? {
        switch state {
        case .closed(let retry): queue.isEmpty ? nil : retry
        case .connecting(_, let limit): limit
        case .open: nil
        }
    }

    mutating func append(_ cycle: [UInt8]) { queue.append(cycle) }

    mutating func drainStatuses() -> [NMEAStatus] {
        defer { statuses = [] }
        return statuses
    }

    mutating func close() {
        switch state {
        case .closed: break
        case .connecting(let descriptor, _), .open(let descriptor): Glibc.close(descriptor)
        }
        state = .closed(retry: .zero)
    }

    /// Does the work that is due.
    ///
    /// - Parameter events: the events of the descriptors in `watched`.
    mutating func advance(_ events: [pollfd], at now: Instant) {
        let ready = events.first?.revents ?? 0
        switch state {
        case .closed(let retry):
            if !queue.isEmpty, retry <= now { open(at: now) }
        case .connecting(let descriptor, let limit):
            if ready != 0 {
                let number = Self.pendingError(of: descriptor)
                if number == 0 { state = .open(descriptor) } else { turn(after: number, at: now) }
            } else if limit <= now {
                turn(after: ETIMEDOUT, at: now)
            }
        case .open(let descriptor): observe(ready, of: descriptor, at: now)
        }
        if case .open(let descriptor) = state { write(to: descriptor, at: now) }
    }

    /// Detects the end of an open connection.
    private mutating func observe(_ ready: Int16, of descriptor: Int32, at now: Instant) {
        let isBroken = ready & Int16(POLLHUP | POLLERR) != 0
        if isDatagram {
            if isBroken { loseDatagram(Self.pendingError(of: descriptor), at: now) }
        } else if isStream {
            if isBroken || ready & Int16(POLLIN) != 0, !Self.discardInput(of: descriptor) { fail(ECONNRESET, at: now) }
        } else if isBroken {
            fail(EPIPE, at: now)
        }
    }

    private mutating func open(at now: Instant) {
        do throws(NMEAError) {
            switch destination {
            case .udp(let host, let port), .tcp(let host, let port):
                try resolve(host, port)
                try connect(at: now)
            case .file(let path): try openFile(path)
            case .tcpListener, .unixListener: preconditionFailure("\(destination) listens")
            }
        } catch {
            fail(error, at: now)
        }
    }

    /// Opens a file. Only its owner can read a new file, because it contains the locations of a person.
    private mutating func openFile(_ path: String) throws(NMEAError) {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unreachable(destination, number: errno) }
        state = .open(descriptor)
    }

    private var socketType: __socket_type { isDatagram ? SOCK_DGRAM : SOCK_STREAM }

    /// Finds the addresses of the host.
    private mutating func resolve(_ host: String, _ port: UInt16) throws(NMEAError) {
        var found: [SystemAddress] = []
        for name in names(host) { found += try SystemAddress.all(name, port, socketType, for: destination) }
        untried = found[...]
        hasAlternatives = found.count > 1
    }

    /// Connects to the next address of the host that the system accepts.
    private mutating func connect(at now: Instant) throws(NMEAError) {
        var number = EADDRNOTAVAIL
        while let address = untried.popFirst() {
            let descriptor = address.socket(socketType)
            guard descriptor >= 0 else {
                number = errno
                continue
            }
            if isDatagram { Self.allowBroadcast(descriptor) }
            if address.with({ Glibc.connect(descriptor, $0, $1) }) == 0 {
                state = .open(descriptor)
                return
            }
            guard errno != EINPROGRESS else {
                state = .connecting(descriptor, until: now.advanced(by: Self.connectionTime))
                return
            }
            number = errno
            Glibc.close(descriptor)
        }
        throw .unreachable(destination, number: number)
    }

    private mutating func write(to descriptor: Int32, at now: Instant) {
        while !queue.isEmpty {
            let piece = queue.next()
            let count = piece.withUnsafeBytes { bytes in
                if case .file = destination { return Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
                return Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                queue.consume(count)
                if count == piece.count { succeed() }
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN: return
            // The error of an earlier datagram; this position is lost.
            case let number where isDatagram:
                queue.dropRest()
                loseDatagram(number, at: now)
                guard case .open(descriptor) = state else { return }
            case let number: return fail(number, at: now)
            }
        }
    }

    /// Connects to the next address of the host after an error, or else reports it.
    private mutating func turn(after number: Int32, at now: Instant) {
        guard !untried.isEmpty else { return fail(number, at: now) }
        close()
        do throws(NMEAError) { try connect(at: now) } catch { fail(error, at: now) }
    }

    /// Handles the error of an earlier datagram. The socket stays usable, unless the host has another address.
    private mutating func loseDatagram(_ number: Int32, at now: Instant) {
        guard untried.isEmpty else { return turn(after: number, at: now) }
        note(.unreachable(destination, number: number))
        // The next position begins at the first address.
        if hasAlternatives { close() }
    }

    private mutating func succeed() {
        backoff.reset()
        if let status = log.succeed(losses: { queue.drainLosses() }) { statuses.append(status) }
    }

    private mutating func note(_ error: NMEAError) {
        if let status = log.fail(error) { statuses.append(status) }
    }

    private mutating func fail(_ number: Int32, at now: Instant) {
        fail(.unreachable(destination, number: number), at: now)
    }

    private mutating func fail(_ error: NMEAError, at now: Instant) {
        close()
        queue.dropRest()
        state = .closed(retry: now.advanced(by: min(backoff.next(), Self.longestPause)))
        note(error)
    }

    private static func pendingError(of descriptor: Int32) -> Int32 {
        var number: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &length) == 0 ? number : errno
    }

    private static func allowBroadcast(_ descriptor: Int32) {
        var value: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_BROADCAST, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Discards the data that the reader sends; returns whether the connection is still open.
    static func discardInput(of descriptor: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
    }
}

/// The identity of the file at a path.
private struct SocketFile: Hashable, Sendable {
    private let device: dev_t
    private let number: ino_t

    /// Finds the file; nil if there is none.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        (device, number) = (status.st_dev, status.st_ino)
    }
}

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
    /// The file of a local socket; nil for a port.
    private var socketFile: SocketFile?
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
            socketFile = SocketFile(path)
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
        // Somebody may have removed the socket, so that another sender could listen at the path.
        if case .unixListener(let path) = destination, SocketFile(path) == socketFile { unlink(path) }
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

/// The address of a socket in the system's form.
struct SystemAddress: Sendable {
    private let storage: sockaddr_storage
    private let length: socklen_t

    /// The family, such as `AF_INET`.
    var family: Int32 { Int32(storage.ss_family) }

    /// Returns the addresses of a host in the system's order; this may block for as long as the name server takes.
    ///
    /// - Parameter socketType: `SOCK_DGRAM` or `SOCK_STREAM`.
    static func all(
        _ host: String, _ port: UInt16, _ socketType: __socket_type, for destination: NMEADestination
    ) throws(NMEAError) -> [SystemAddress] {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICSERV
        hints.ai_socktype = Int32(socketType.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        defer { if list != nil { freeaddrinfo(list) } }
        guard status == 0 else { throw .unknownHost(destination, reason: String(cString: gai_strerror(status))) }
        var addresses: [SystemAddress] = []
        var next = list
        while let entry = next {
            if let address = SystemAddress(entry.pointee.ai_addr, entry.pointee.ai_addrlen) {
                addresses.append(address)
            }
            next = entry.pointee.ai_next
        }
        return addresses
    }

    private init?(_ address: UnsafePointer<sockaddr>?, _ length: socklen_t) {
        guard let address, length <= socklen_t(MemoryLayout<sockaddr_storage>.size) else { return nil }
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { bytes in
            bytes.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(length)))
        }
        self.storage = storage
        self.length = length
    }

    /// Creates the address of a local socket; nil if the path is too long.
    init?(path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let hasRoom = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard bytes.count < room.count else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        guard hasRoom else { return nil }
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { target in
            withUnsafeBytes(of: address) { target.copyMemory(from: $0) }
        }
        self.storage = storage
        length = socklen_t(MemoryLayout<sockaddr_un>.size)
    }

    /// Calls `body` with the address, such as for `connect` or `bind`.
    func with<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// Returns a new socket for the address that never blocks; negative on failure, with errno.
    func socket(_ type: __socket_type) -> Int32 {
        Glibc.socket(family, Int32(type.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    }
}
