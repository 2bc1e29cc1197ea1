import Glibc
import IndoorVocabulary

/// Ends waits, from any thread and for good.
final class Alarm: Sendable {
    /// The end of a pipe that can be read once something was written to the other.
    private let descriptor: Int32
    private let other: Int32

    init() throws(GPSDError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .system(call: "pipe", number: errno) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, other) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(other)
    }

    /// Ends the wait that is on, and all later ones: nobody reads what is written.
    func raise() {
        var byte: UInt8 = 1
        // Where the pipe is full, it was raised often enough.
        _ = write(other, &byte, 1)
    }

    /// Whether it was raised.
    var isRaised: Bool { wait(for: nil, atMost: .zero) == .alarm }

    /// What ended a wait.
    enum Outcome: Hashable {
        case alarm
        /// The descriptor has something to be read, or is at its end.
        case ready
        case timeout
    }

    /// Waits until another descriptor has something to be read, the alarm is raised, or the time is over.
    ///
    /// - Parameter timeout: nil waits for ever.
    func wait(for other: Int32?, atMost timeout: Duration?) -> Outcome {
        // Rounded up, so that what is due then is due. poll passes over negative descriptors.
        let milliseconds = timeout.map { Int32(clamping: max(0, $0.nanoseconds / 1_000_000 + ($0 > .zero ? 1 : 0))) }
        var watched = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&watched, nfds_t(watched.count), milliseconds ?? -1)
        if watched[0].revents != 0 { return .alarm }
        // A signal ends a wait too early, which only means that one looks for nothing.
        return count > 0 ? .ready : .timeout
    }
}
