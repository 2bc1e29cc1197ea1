import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers

/// One end of a stream socket, or of a FIFO, that a test reads. Its waits have a time limit.
///
/// Unchecked, as only one task of a test reads it at a time.
final class StreamPeer: @unchecked Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The time limit of a wait in milliseconds.
    static let patience = Int32(Bounded.longest.seconds * 1000)

    private let descriptor: Int32
    private var rest: [UInt8] = []

    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Connects to a port on loopback.
    ///
    /// - Parameter room: the bytes that the kernel stores for this reader; nil for its standard.
    convenience init(port: UInt16, room: Int32? = nil) throws {
        self.init(descriptor: try TestPort.connect(to: port, room: room))
    }

    /// Connects to a local socket.
    convenience init(path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw Failure(description: "no connection to \(path): error \(errno)") }
        self.init(descriptor: descriptor)
    }

    /// Returns the next line without its end; nil at the end of the stream.
    func line() throws -> String? {
        while true {
            if let end = rest.firstIndex(of: 10) {
                let line = String(decoding: rest[..<end].filter { $0 != 13 }, as: UTF8.self)
                rest.removeFirst(end + 1)
                return line
            }
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&watched, 1, Self.patience) == 1 else { throw Failure(description: "no line arrives") }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else { return nil }
            rest += bytes.prefix(count)
        }
    }

    /// The content of a FIFO or a file that another test process writes.
    static func opening(_ path: String) throws -> StreamPeer {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK)
        guard descriptor >= 0 else { throw Failure(description: "\(path): error \(errno)") }
        return StreamPeer(descriptor: descriptor)
    }
}

/// A TCP server on loopback that accepts one connection at a time.
final class StreamServer: Sendable {
    let port: UInt16
    private let descriptor: Int32

    /// - Parameter port: the port; 0 for any free one.
    init(port: UInt16 = 0) throws {
        (descriptor, self.port) = try TestPort.listen(port: port, backlog: 8, isReusable: true)
    }

    deinit { close(descriptor) }

    func accept() throws -> StreamPeer {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&watched, 1, StreamPeer.patience) == 1 else {
            throw StreamPeer.Failure(description: "no client connects")
        }
        return StreamPeer(descriptor: Glibc.accept(descriptor, nil, nil))
    }
}
