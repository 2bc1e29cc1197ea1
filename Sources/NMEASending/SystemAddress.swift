import Glibc

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
