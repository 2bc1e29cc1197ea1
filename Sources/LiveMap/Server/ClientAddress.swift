import Glibc

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
