import Glibc

/// Ends the wait of a thread that waits for a socket, from any thread: the two ends of a pipe.
final class LinkSignal: Sendable {
    /// What can be read from once the signal was raised; -1 if the system had none to give.
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
        // Where the pipe is full, it was raised often enough.
        _ = write(other, &byte, 1)
    }

    /// Makes the next wait last again.
    func lower() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(descriptor, &bytes, bytes.count) == bytes.count {}
    }
}
