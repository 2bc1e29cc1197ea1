import Foundation

/// A real gpsd on this machine's loopback interface.
package final class GPSDServer {
    /// The port for clients.
    package let port: UInt16
    private let process = Process()

    /// Starts gpsd with devices, such as `udp://127.0.0.1:5000`, and returns once it listens.
    package init(devices: [String]) throws {
        port = try TestPort.free()
        process.executableURL = try TestPort.program("gpsd", ofPackage: "gpsd")
        process.arguments = ["-N", "-n", "-S", "\(port)"] + devices
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard try TestPort.start(process, on: port) else {
            throw TestPort.Failure(description: "gpsd does not listen at \(port) with \(devices)")
        }
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// Reads gpsd's reports with gpspipe until one satisfies a condition, and returns it.
    package static func report(
        at port: UInt16, _ awaited: String, where isWanted: ([String: Any]) -> Bool
    ) throws -> [String: Any] {
        let pipe = Process()
        pipe.executableURL = try TestPort.program("gpspipe", ofPackage: "gpsd-clients")
        pipe.arguments = ["-w", "localhost:\(port)"]
        let output = Pipe()
        pipe.standardOutput = output
        pipe.standardError = FileHandle.nullDevice
        try ProcessSignals.withAll { try pipe.run() }
        let limit = DispatchWorkItem { pipe.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + TestPort.bound, execute: limit)
        defer {
            limit.cancel()
            pipe.terminate()
            pipe.waitUntilExit()
        }
        var rest = Data()
        var lines: [String] = []
        while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
            rest += data
            while let end = rest.firstIndex(of: 10) {
                let line = rest[..<end]
                rest.removeSubrange(...end)
                lines.append(String(decoding: line, as: UTF8.self))
                if let report = try JSONSerialization.jsonObject(with: line) as? [String: Any], isWanted(report) {
                    return report
                }
            }
        }
        throw TestPort.Failure(description: "no \(awaited) within \(TestPort.bound) s, but \(lines.suffix(20))")
    }
}

extension TestPort {
    /// Returns a UDP port for a receiver that a test starts later.
    ///
    /// A socket keeps the port as in `free()`. It receives nothing, as it is connected to a port from which nobody sends.
    package static func freeForDatagrams() throws -> UInt16 {
        // The kernel must choose a port that nobody has; a reusable one could be a reusable one of another process.
        let (descriptor, port) = try bound(port: 0, SOCK_DGRAM, isReusable: false)
        makeReusable(descriptor)
        var peer = loopback(port: 9)
        let isConnected = withUnsafePointer(to: &peer) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                Glibc.connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw Failure(description: "no UDP port: \(String(cString: strerror(errno)))") }
        keep(descriptor)
        return port
    }
}

/// A socket that receives datagrams on loopback, on a port that the kernel has chosen.
package final class DatagramReceiver {
    package let port: UInt16
    private let descriptor: Int32

    package convenience init() throws { try self.init(port: 0) }

    /// - Parameter port: a port from `freeForDatagrams()`; 0 for any free one.
    package init(port: UInt16) throws {
        (descriptor, self.port) = try TestPort.bound(port: port, SOCK_DGRAM, isReusable: port != 0)
    }

    deinit { close(descriptor) }

    /// Returns the next datagram as text.
    package func next() throws -> String {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&watched, 1, Int32(TestPort.bound * 1000)) == 1 else {
            throw TestPort.Failure(description: "no datagram arrives")
        }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
