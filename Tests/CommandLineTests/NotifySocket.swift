import Foundation

/// The notification socket of a service manager such as systemd.
final class NotifySocket {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The path, for NOTIFY_SOCKET.
    let path: String
    private let descriptor: Int32
    private let texts = ReadTexts()
    /// The number of messages that were returned.
    private var taken = 0

    /// The messages so far, with their lines in order.
    var messages: [String] { texts.all }
    /// The message that was returned last.
    var latest: String? { taken > 0 ? texts.all[taken - 1] : nil }

    init(in folder: String) throws {
        path = folder + "/notify"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let status = try Self.withAddress(path) { bind(descriptor, $0, $1) }
        guard status == 0 else { throw Failure(description: "\(path): \(String(cString: strerror(errno)))") }
        // Read continuously, as a service blocks while the socket is full.
        texts.follow(datagrams: descriptor)
    }

    deinit {
        _ = try? sayEnd()
        close(descriptor)
    }

    /// Waits until all messages are read, and stops reading.
    func finish() throws {
        try sayEnd()
        guard texts.waitForEnd() else { throw Failure(description: "\(path) is not read to its end") }
    }

    /// An empty message ends the thread that reads.
    private func sayEnd() throws {
        _ = try Self.withAddress(path) { sendto(descriptor, nil, 0, Int32(MSG_DONTWAIT), $0, $1) }
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> some SignedInteger)
        throws -> Int
    {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw Failure(description: "\(path) is too long for a socket")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Int(body($0, socklen_t(MemoryLayout<sockaddr_un>.size)))
            }
        }
    }

    /// Waits for the next message; returns nil after the time limit.
    @discardableResult func next(within seconds: Double) -> String? {
        guard let message = texts.first(from: taken, within: seconds, where: { _ in true }) else { return nil }
        taken += 1
        return message
    }

    /// Waits for a new message with a line that has this prefix.
    func wait(for line: String) throws {
        let deadline = ContinuousClock.now + .seconds(Tool.bound)
        while ContinuousClock.now < deadline, let message = next(within: Tool.bound) {
            if message.split(separator: "\n").contains(where: { $0.hasPrefix(line) }) { return }
        }
        throw Failure(description: "no \(line) within \(Int(Tool.bound)) s, but \(messages)")
    }
}
