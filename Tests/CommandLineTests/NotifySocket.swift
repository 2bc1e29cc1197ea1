import Foundation

/// The socket on which a manager of services listens to them, as systemd does.
final class NotifySocket {
    /// Its path, for NOTIFY_SOCKET.
    let path: String
    /// What was told so far, a message an entry, its lines as they came.
    private(set) var messages: [String] = []
    private let descriptor: Int32

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(in folder: String) throws {
        path = folder + "/notify"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw Failure(description: "\(path) is too long for a socket")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw Failure(description: "\(path): \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    /// The next message; nil if none comes within that time.
    @discardableResult func next(within seconds: Double) -> String? {
        let deadline = ContinuousClock.now + .seconds(seconds)
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let left = max(.zero, ContinuousClock.now.duration(to: deadline))
            let ready = Glibc.poll(&poll, 1, Int32(left / .milliseconds(1)))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return nil }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { return nil }
            let message = String(decoding: buffer[..<count], as: UTF8.self)
            messages.append(message)
            return message
        }
    }

    /// Waits for a message with that line, or that begins one; those that were told before do not count.
    func wait(for line: String, within seconds: Double = Tool.bound) throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < deadline, let message = next(within: seconds) {
            if message.split(separator: "\n").contains(where: { $0.hasPrefix(line) }) { return }
        }
        throw Failure(description: "no \(line) within \(seconds) s, but \(messages)")
    }
}
