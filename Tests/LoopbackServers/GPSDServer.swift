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
    ///
    /// - Parameter seconds: the time limit.
    package static func report(
        at port: UInt16, _ awaited: String, within seconds: Double = 60, where isWanted: ([String: Any]) -> Bool
    ) throws -> [String: Any] {
        let pipe = Process()
        pipe.executableURL = try TestPort.program("gpspipe", ofPackage: "gpsd-clients")
        pipe.arguments = ["-w", "localhost:\(port)"]
        let output = Pipe()
        pipe.standardOutput = output
        pipe.standardError = FileHandle.nullDevice
        try ProcessSignals.withAll { try pipe.run() }
        let limit = DispatchWorkItem { pipe.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: limit)
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
        throw TestPort.Failure(description: "no \(awaited) within \(seconds) s, but \(lines.suffix(20))")
    }
}

extension TestPort {
    /// Returns a UDP port that the kernel has chosen and that was free at that moment.
    package static func freeForDatagrams() throws -> UInt16 { try DatagramReceiver().port }
}

/// A socket that receives datagrams on loopback, on a port that the kernel has chosen.
package final class DatagramReceiver {
    package let port: UInt16
    private let descriptor: Int32

    package convenience init() throws { try self.init(port: 0) }

    /// - Parameter port: the port; 0 for any free one.
    package init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = TestPort.loopback(port: port)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) == 0 && getsockname(descriptor, pointer, &size) == 0
            }
        }
        self.port = UInt16(bigEndian: address.sin_port)
        guard isBound else {
            throw TestPort.Failure(description: "no UDP port: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Returns the next datagram as text.
    package func next() throws -> String {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&watched, 1, 60_000) == 1 else { throw TestPort.Failure(description: "no datagram arrives") }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
