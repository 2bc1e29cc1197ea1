import Glibc

/// A pipe with which any thread can end another thread's wait for a socket.
final class LinkSignal: Sendable {
    /// The descriptor that is readable while the signal is raised; -1 if the system had no free descriptor.
    let descriptor: Int32
    private let other: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) == 0 {
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
        }
        (descriptor, other) = (ends[0], ends[1])
    }

    deinit {
        for end in [descriptor, other] where end >= 0 { close(end) }
    }

    func raise() {
        var byte: UInt8 = 1
        // If the pipe is full, the signal is already raised.
        _ = write(other, &byte, 1)
    }

    /// Resets the signal.
    func lower() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(descriptor, &bytes, bytes.count) == bytes.count {}
    }
}
