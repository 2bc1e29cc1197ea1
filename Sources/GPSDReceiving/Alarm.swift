import Glibc
import IndoorVocabulary

/// A pipe with which any thread can end another thread's waits permanently.
final class Alarm: Sendable {
    /// The read end of the pipe, which is readable once the alarm is raised.
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

    /// Ends the current wait and all later ones: the byte stays in the pipe.
    func raise() {
        var byte: UInt8 = 1
        // If the pipe is full, the alarm is already raised.
        _ = write(other, &byte, 1)
    }

    /// Whether the alarm is raised.
    var isRaised: Bool { wait(for: nil, atMost: .zero) == .alarm }

    /// The event that ended a wait.
    enum Outcome: Hashable {
        case alarm
        /// The descriptor is readable or at its end.
        case ready
        case timeout
    }

    /// Waits until another descriptor is readable, the alarm is raised, or the timeout expires.
    ///
    /// - Parameter timeout: The time limit; nil for none.
    func wait(for other: Int32?, atMost timeout: Duration?) -> Outcome {
        // Rounded up, so that the deadline has passed afterwards. poll ignores negative descriptors.
        let milliseconds = timeout.map { Int32(clamping: max(0, $0.nanoseconds / 1_000_000 + ($0 > .zero ? 1 : 0))) }
        var watched = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&watched, nfds_t(watched.count), milliseconds ?? -1)
        if watched[0].revents != 0 { return .alarm }
        // A signal may end a wait early, which only causes an unnecessary read.
        return count > 0 ? .ready : .timeout
    }
}
