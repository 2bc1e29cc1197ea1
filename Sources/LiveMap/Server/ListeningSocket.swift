import Glibc

/// A TCP socket that listens for connections.
struct ListeningSocket {
    /// The number of bytes that the kernel buffers for a reader that is slower than the session. Newer frames can't
    /// replace the data in the kernel, so with a large buffer a slow reader would show an old position.
    private static let sendBuffer: Int32 = 131_072
    private static let backlog: Int32 = 512

    /// The descriptor, which the owner closes.
    let descriptor: Int32
    /// The address with the port that was bound.
    let address: LiveMapAddress

    /// Listens at a numeric address; port 0 chooses a free port.
    ///
    /// - Throws: `LiveMapError` with the reason of the system.
    init(_ address: LiveMapAddress) throws(LiveMapError) {
        var (descriptor, failed, port) = (Int32(-1), "", UInt16(0))
        let status = address.withSystemAddress { system, length in
            // MHD polls the socket, so accepting must not block.
            let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            descriptor = socket(Int32(system.pointee.sa_family), type, 0)
            guard descriptor >= 0 else { return failed = "socket" }
            // The port is free as soon as the server has stopped, even if the kernel still holds old connections.
            Self.set(SO_REUSEADDR, 1, on: descriptor)
            Self.set(SO_SNDBUF, Self.sendBuffer, on: descriptor)
            guard bind(descriptor, system, length) == 0 else { return failed = "bind" }
            guard listen(descriptor, Self.backlog) == 0 else { return failed = "listen" }
            guard let bound = Self.port(of: descriptor) else { return failed = "getsockname" }
            port = bound
        }
        let number = errno
        guard status == 0 else {
            throw .badAddress(text: address.description, reason: String(cString: gai_strerror(status)))
        }
        guard failed.isEmpty else {
            if descriptor >= 0 { Glibc.close(descriptor) }
            switch number {
            case EADDRINUSE: throw .addressInUse(address)
            case EADDRNOTAVAIL, EAFNOSUPPORT: throw .addressNotAvailable(address)
            case EACCES, EPERM: throw .notPermitted(address)
            default: throw .system(call: failed, number: number)
            }
        }
        self.descriptor = descriptor
        self.address = address.withPort(port)
    }

    func close() { Glibc.close(descriptor) }

    /// The kernel's number of the socket; nil if the descriptor is closed.
    var identity: UInt? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt(status.st_ino) : nil
    }

    /// Closes the descriptor if it still refers to the socket.
    func close(ifStill identity: UInt?) { if let identity, identity == self.identity { close() } }

    /// Listens at all numeric addresses of an address, with the same port.
    static func all(at address: LiveMapAddress) throws(LiveMapError) -> [ListeningSocket] {
        let numeric = address.numericAddresses
        var attempts = address.port == 0 ? 20 : 1
        while true {
            attempts -= 1
            let first = try ListeningSocket(numeric[0])
            do throws(LiveMapError) {
                var sockets = [first]
                for other in numeric.dropFirst() {
                    sockets.append(try ListeningSocket(other.withPort(first.address.port)))
                }
                return sockets
            } catch .addressNotAvailable {
                // A host without IPv6 has only 127.0.0.1.
                return [first]
            } catch {
                first.close()
                // Another process uses the free port that was chosen for the first address.
                guard case .addressInUse = error, attempts > 0 else { throw error }
            }
        }
    }

    private static func set(_ option: Int32, _ value: Int32, on descriptor: Int32) {
        var value = value
        setsockopt(descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func port(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard status == 0 else { return nil }
        // Both kinds of addresses have the port after the two bytes of the family.
        return withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) }
    }
}
