import Foundation
import Glibc
import Synchronization

/// Ports on this machine's loopback interface.
package enum TestPort {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// The time limit in seconds for the start of a server: far longer than any takes, even on a busy machine.
    static let bound = 180.0

    /// The sockets that keep the ports of the latest calls, the oldest first.
    private static let keepers = Mutex<[Int32]>([])

    /// Returns a port for a server that a test starts later.
    ///
    /// Nothing listens on the port. A bound socket keeps it, so that the kernel gives it neither to another process nor to
    /// a connection. A server can listen on it with the option `SO_REUSEADDR`, which all servers of the tests set.
    package static func free() throws -> UInt16 {
        let (descriptor, port) = try bound(port: 0, SOCK_STREAM, isReusable: true)
        keep(descriptor)
        return port
    }

    /// Keeps a socket until so many others are kept that its test is long over.
    static func keep(_ descriptor: Int32) {
        let old = keepers.withLock { keepers -> Int32? in
            keepers.append(descriptor)
            return keepers.count > 64 ? keepers.removeFirst() : nil
        }
        if let old { close(old) }
    }

    /// Returns a socket that is bound to a port of loopback.
    ///
    /// - Parameters:
    ///   - port: the port; 0 for one that the kernel chooses.
    ///   - isReusable: whether another socket with this option can use the port too.
    static func bound(
        port: UInt16, _ type: __socket_type, isReusable: Bool
    ) throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if isReusable { makeReusable(descriptor) }
        var address = loopback(port: port)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) == 0 && getsockname(descriptor, pointer, &size) == 0
            }
        }
        guard isBound else {
            let number = errno
            close(descriptor)
            throw Failure(description: "no port: \(String(cString: strerror(number)))")
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    static func makeReusable(_ descriptor: Int32) {
        var value: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Returns a socket that listens on a port; 0 is a port that the kernel chooses.
    ///
    /// - Parameter isReusable: whether the port is from `free()`, or the test listens on it again after it has closed the
    ///   socket.
    package static func listen(
        port: UInt16 = 0, backlog: Int32, isReusable: Bool = false
    ) throws -> (descriptor: Int32, port: UInt16) {
        let (descriptor, port) = try bound(port: port, SOCK_STREAM, isReusable: isReusable)
        guard Glibc.listen(descriptor, backlog) == 0 else {
            throw Failure(description: "no listener at \(port): \(String(cString: strerror(errno)))")
        }
        return (descriptor, port)
    }

    /// Returns a socket that is connected to a port.
    ///
    /// - Parameter room: the bytes that the kernel stores for the reader of the socket; nil for its standard.
    package static func connect(to port: UInt16, room: Int32? = nil) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if var room { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size)) }
        var address = loopback(port: port)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                Glibc.connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            let number = errno
            close(descriptor)
            throw Failure(description: "no connection to \(port): \(String(cString: strerror(number)))")
        }
        return descriptor
    }

    /// Returns whether a process listens on the port.
    static func isOpen(_ port: UInt16) -> Bool {
        guard let descriptor = try? connect(to: port) else { return false }
        close(descriptor)
        return true
    }

    /// Returns the path of a server program as installed by Debian or built manually.
    package static func program(_ name: String, ofPackage package: String) throws -> URL {
        let path = ["/usr/sbin/", "/usr/bin/", "/usr/local/sbin/"].map { $0 + name }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
        guard let path else { throw Failure(description: "\(name) is missing: install \(package)") }
        return URL(filePath: path)
    }

    /// Starts a server, and returns whether it listens on the port.
    ///
    /// The result is false if the process ends first, or does not listen within the limit.
    static func start(_ process: Process, on port: UInt16) throws -> Bool {
        try ProcessSignals.withAll { try process.run() }
        let deadline = ContinuousClock.now + .seconds(bound)
        while process.isRunning, ContinuousClock.now < deadline {
            if isOpen(port), process.isRunning { return true }
            poll(nil, 0, 5)
        }
        process.terminate()
        process.waitUntilExit()
        return false
    }

    static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}

/// A listener whose connections the kernel accepts, and which never answers.
package final class SilentListener: Sendable {
    package let port: UInt16
    private let descriptor: Int32

    package init() throws { (descriptor, port) = try TestPort.listen(backlog: 8) }

    package func close() { Glibc.close(descriptor) }
}

/// The signals that a child process can receive.
package enum ProcessSignals {
    /// Runs the body on a thread that blocks no signal.
    ///
    /// A child process inherits the blocked signals of its thread, and the threads of tasks block all of them.
    package static func withAll(_ body: () throws -> Void) rethrows {
        var none = sigset_t()
        var kept = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &kept)
        defer { pthread_sigmask(SIG_SETMASK, &kept, nil) }
        try body()
    }
}
