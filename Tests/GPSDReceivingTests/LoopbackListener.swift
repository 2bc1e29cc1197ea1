import Glibc
import IndoorLocalization
import IndoorLocalizationTesting

/// A socket that listens on loopback, on a port that the kernel chooses. Its waits have a time limit.
final class LoopbackListener {
    /// The time limit of a wait in milliseconds.
    private static let patience = Int32(Bounded.longest.seconds * 1000)

    let port: UInt16
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) | listen(descriptor, 8) | getsockname(descriptor, $0, &length)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard result == 0 else { throw StageError("no port on loopback: error \(errno)") }
    }

    deinit { close(descriptor) }

    /// Returns the next connection.
    func accept() throws -> LoopbackConnection {
        guard Self.isReadable(descriptor) else { throw StageError("no client connects") }
        return LoopbackConnection(descriptor: Glibc.accept(descriptor, nil, nil))
    }

    static func isReadable(_ descriptor: Int32) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, patience) == 1
    }
}

/// One end of a connection on loopback.
final class LoopbackConnection: Sendable {
    private let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Sends a text. Returns false if the other end has closed the connection.
    @discardableResult func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Reads until the other end closes the connection, and returns the received text.
    func readToEnd() throws -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            guard LoopbackListener.isReadable(descriptor) else { throw StageError("the connection stays open") }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer.prefix(count)
        }
    }
}

/// An error in the setup of a test.
struct StageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
