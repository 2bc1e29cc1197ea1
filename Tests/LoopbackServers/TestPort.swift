import Foundation

/// Ports on this machine's loopback interface.
package enum TestPort {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Returns a port that the kernel has chosen and that was free at that moment.
    package static func free() throws -> UInt16 {
        let listener = try listen(backlog: 1)
        defer { close(listener.descriptor) }
        return listener.port
    }

    /// Returns a socket that listens on a port; 0 is a port that the kernel chooses.
    ///
    /// - Parameter isReusable: whether the test listens on the port again after it has closed the socket.
    package static func listen(
        port: UInt16 = 0, backlog: Int32, isReusable: Bool = false
    ) throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        // Both the earlier and the later socket need the option.
        var value: Int32 = isReusable ? 1 : 0
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &value, socklen_t(MemoryLayout<Int32>.size))
        var address = loopback(port: port)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) == 0 && Glibc.listen(descriptor, backlog) == 0
                    && getsockname(descriptor, pointer, &size) == 0
            }
        }
        guard isBound else { throw Failure(description: "no port: \(String(cString: strerror(errno)))") }
        return (descriptor, UInt16(bigEndian: address.sin_port))
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
    /// The result is false if the process ends first, or does not listen within 20 s.
    static func start(_ process: Process, on port: UInt16) throws -> Bool {
        try ProcessSignals.withAll { try process.run() }
        let deadline = ContinuousClock.now + .seconds(20)
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
