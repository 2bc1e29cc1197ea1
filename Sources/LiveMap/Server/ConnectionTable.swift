import Glibc

/// The connections of a server. It selects the connections to close when there are too many, or when one is too slow.
///
/// A client that has sent its whole request waits for the server; for any other client, the server waits. Connections
/// of the second kind are closed first, so that silent or slow connections, however many, can't prevent responses to
/// other clients.
struct ConnectionTable {
    /// A connection, by the number that its owner gave it.
    typealias ID = UInt

    private struct Connection {
        let address: ClientAddress
        /// The time by which the client must have sent its request; nil while the client waits for the server.
        var deadline: ContinuousClock.Instant?
        /// The time since which it has been silent: the connection that has been silent for the longest time is closed
        /// first.
        var since: ContinuousClock.Instant
    }

    /// The result of opening a connection.
    enum Opening: Equatable {
        case accepted
        /// Another connection, for which the server waits, is closed to make room.
        case replacing(ID)
        /// All other clients wait for the server, so the request is refused.
        case refused
    }

    private let limits: LiveMapServer.Limits
    private var connections: [ID: Connection] = [:]
    private var counts: [ClientAddress: Int] = [:]
    /// The connections whose closing was requested and hasn't finished yet.
    private var closing: Set<ID> = []

    init(_ limits: LiveMapServer.Limits) { self.limits = limits }

    var count: Int { connections.count + closing.count }

    /// The earliest time at which `overdue(at:)` returns a connection; nil if the server waits for none.
    var nextDeadline: ContinuousClock.Instant? { connections.values.compactMap(\.deadline).min() }

    /// Adds a connection.
    mutating func open(_ id: ID, of address: ClientAddress, at now: ContinuousClock.Instant) -> Opening {
        connections[id] = Connection(
            address: address, deadline: now + min(limits.head, limits.silence), since: now)
        counts[address, default: 0] += 1
        let isCrowded = !address.isLoopback && counts[address, default: 0] > limits.connectionsPerAddress
        guard isCrowded || connections.count > limits.connections else { return .accepted }
        let waiting = connections.filter {
            $0.key != id && $0.value.deadline != nil && (!isCrowded || $0.value.address == address)
        }
        // Among the connections of the client with the most connections, selects the one that has been silent for the
        // longest time.
        let victim = waiting.min {
            let (one, other) = (counts[$0.value.address] ?? 0, counts[$1.value.address] ?? 0)
            return (other, $0.value.since, $0.key) < (one, $1.value.since, $1.key)
        }
        guard let victim else { return .refused }
        tellToClose(victim.key)
        return .replacing(victim.key)
    }

    /// Records that the head of a request has arrived; the body must follow within the time of silence.
    mutating func receiveHead(of id: ID, at now: ContinuousClock.Instant) {
        connections[id]?.deadline = now + limits.silence
    }

    /// Records that a request is complete, or gets its response without its body.
    mutating func beginWork(for id: ID) { connections[id]?.deadline = nil }

    /// Records that a response was sent; the client may send another request.
    mutating func endWork(for id: ID, at now: ContinuousClock.Instant) {
        connections[id]?.deadline = now + limits.silence
        connections[id]?.since = now
    }

    /// Removes a connection, which is closed.
    mutating func close(_ id: ID) {
        remove(id)
        closing.remove(id)
    }

    /// Returns the connections whose request has not arrived in time, which the caller must close.
    mutating func overdue(at now: ContinuousClock.Instant) -> [ID] {
        let late = connections.filter { $0.value.deadline.map { $0 <= now } ?? false }.keys.sorted()
        for id in late { tellToClose(id) }
        return late
    }

    private mutating func tellToClose(_ id: ID) {
        remove(id)
        closing.insert(id)
    }

    private mutating func remove(_ id: ID) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        let rest = (counts[connection.address] ?? 1) - 1
        counts[connection.address] = rest > 0 ? rest : nil
    }
}

/// The network address of a client. For IPv6, it is the first 64 bits, which a provider assigns to one customer.
struct ClientAddress: Hashable, Sendable {
    private let bytes: [UInt8]

    /// Creates an address from its bytes: 4 of IPv4, or 16 of IPv6.
    init(_ bytes: [UInt8]) {
        let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]
        if bytes.count == 16, bytes.starts(with: mapped) {
            self.bytes = Array(bytes.suffix(4))
        } else {
            let isLoopback = bytes.dropLast().allSatisfy { $0 == 0 }
            self.bytes = bytes.count == 16 && !isLoopback ? Array(bytes.prefix(8)) : bytes
        }
    }

    /// The address in its usual form, of IPv6 only the network; nil without one.
    var text: String? {
        switch bytes.count {
        case 4: return bytes.map { String($0) }.joined(separator: ".")
        case 8:
            let groups = stride(from: 0, to: 8, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
            return groups.map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
        case 16: return "::\(bytes[15])"
        default: return nil
        }
    }

    /// Creates an address from the system's address; without one, or for other address families, all clients have the
    /// same address.
    init(_ address: UnsafePointer<sockaddr>?) {
        var bytes: [UInt8] = []
        if let address {
            switch Int32(address.pointee.sa_family) {
            case AF_INET:
                address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                    bytes = withUnsafeBytes(of: pointer.pointee.sin_addr) { Array($0) }
                }
            case AF_INET6:
                address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                    bytes = withUnsafeBytes(of: pointer.pointee.sin6_addr) { Array($0) }
                }
            default: break
            }
        }
        self.init(bytes)
    }

    /// Whether the client is on this machine. It may be a reverse proxy, which makes the connections of all its
    /// clients.
    var isLoopback: Bool {
        bytes.count == 4 && bytes[0] == 127 || bytes.count == 16 && bytes.last == 1
    }
}
