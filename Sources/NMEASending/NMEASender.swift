import Dispatch
import Glibc
import IndoorVocabulary

/// A sender of NMEA 0183 sentences to a program, a server's readers or a file.
///
///     let sender = try NMEASender(NMEADestination("udp://127.0.0.1:5000")) { status in print(status) }
///     sender.send(sentences)
///     await sender.finish()
///
/// Sending never blocks. If the destination fails, the sender tries again with increasing pauses, keeps the newest
/// positions in bounded memory, and reports the error once. A thread of the sender owns the descriptors.
public final class NMEASender: Sendable {
    /// The time limit for the remaining sentences at the end.
    private static let closingTime = Duration.seconds(1)

    /// The destination; with the chosen port, if it listens at port 0.
    package let destination: NMEADestination
    private let mailbox: NMEAMailbox

    /// Creates a sender, and begins to listen if the destination listens.
    ///
    /// - Parameter report: receives the changes of the connection, on a thread of the sender.
    /// - Throws: `NMEAError` if the address to listen at is in use or can't be used. Any other failure is reported
    ///   later.
    public init(
        _ destination: NMEADestination, report: @escaping @Sendable (NMEAStatus) -> Void = { _ in }
    ) throws(NMEAError) {
        mailbox = try NMEAMailbox(for: destination)
        let outlet: NMEAOutlet
        switch destination {
        case .udp, .tcp, .file:
            outlet = .connection(NMEAConnection(destination, seed: UInt64(bitPattern: Self.now.nanoseconds)))
            self.destination = destination
        case .tcpListener, .unixListener:
            let listener = try NMEAListener(destination)
            outlet = .listener(listener)
            self.destination = listener.destination
        }
        DispatchQueue(label: "IndoorLocalization.NMEASender", qos: .userInitiated).async { [mailbox] in
            BlockedSignal.withoutBrokenPipe { Self.run(outlet, mailbox, report) }
        }
    }

    deinit { mailbox.end() }

    /// Sends the sentences of one position; does nothing if there are none.
    public func send(_ sentences: [NMEASentence]) {
        if !sentences.isEmpty { mailbox.put(sentences.flatMap(\.bytes)) }
    }

    /// Ends the sender: sends the rest within a second, if the destination accepts it, and closes the connection.
    public func finish() async {
        mailbox.end()
        // The thread may be waiting for a name server.
        let limit = Int(Self.closingTime.nanoseconds) * 2
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(limit)) { [mailbox] in mailbox.noteEnd() }
        await mailbox.waitForEnd()
    }

    private static func run(
        _ outlet: NMEAOutlet, _ mailbox: NMEAMailbox, _ report: @Sendable (NMEAStatus) -> Void
    ) {
        var outlet = outlet
        var deadline: Instant?
        while true {
            let (cycles, isEnding) = mailbox.take()
            for cycle in cycles { outlet.append(cycle) }
            // New cycles are written at once, without waiting for an event.
            outlet.advance([], at: now)
            outlet.drainStatuses().forEach(report)
            if isEnding {
                let limit = deadline ?? now.advanced(by: closingTime)
                deadline = limit
                if outlet.isIdle || limit <= now { break }
            }
            var watched = [pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)] + outlet.watched
            let wake = [outlet.wake, deadline].compactMap(\.self).min()
            poll(&watched, nfds_t(watched.count), milliseconds(until: wake))
            outlet.advance(Array(watched.dropFirst()), at: now)
            outlet.drainStatuses().forEach(report)
        }
        outlet.close()
        mailbox.noteEnd()
    }

    /// Returns the time limit of poll(2): rounded up, so that the instant has passed afterwards; -1 for none.
    private static func milliseconds(until instant: Instant?) -> Int32 {
        guard let instant else { return -1 }
        return Int32(clamping: max(0, now.duration(to: instant).nanoseconds / 1_000_000 + 1))
    }

    private static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

/// The descriptors of a sender.
private enum NMEAOutlet: Sendable {
    case connection(NMEAConnection)
    case listener(NMEAListener)

    var isIdle: Bool {
        switch self {
        case .connection(let connection): connection.isIdle
        case .listener(let listener): listener.isIdle
        }
    }

    var watched: [pollfd] {
        switch self {
        case .connection(let connection): connection.watched
        case .listener(let listener): listener.watched
        }
    }

    var wake: Instant? {
        switch self {
        case .connection(let connection): connection.wake
        case .listener(let listener): listener.wake
        }
    }

    mutating func append(_ cycle: [UInt8]) {
        change {
            $0.append(cycle)
        } _: {
            $0.append(cycle)
        }
    }

    mutating func advance(_ events: [pollfd], at now: Instant) {
        change {
            $0.advance(events, at: now)
        } _: {
            $0.advance(events, at: now)
        }
    }

    mutating func close() {
        change {
            $0.close()
        } _: {
            $0.close()
        }
    }

    mutating func drainStatuses() -> [NMEAStatus] {
        change {
            $0.drainStatuses()
        } _: {
            $0.drainStatuses()
        }
    }

    private mutating func change<Result>(
        _ connected: (inout NMEAConnection) -> Result, _ listening: (inout NMEAListener) -> Result
    ) -> Result {
        switch self {
        case .connection(var connection):
            defer { self = .connection(connection) }
            return connected(&connection)
        case .listener(var listener):
            defer { self = .listener(listener) }
            return listening(&listener)
        }
    }
}

/// The blocking of a signal on a thread.
private enum BlockedSignal {
    /// Runs the body without SIGPIPE on this thread: a write to a FIFO without a reader only fails.
    static func withoutBrokenPipe(_ body: () -> Void) {
        var brokenPipe = sigset_t()
        var kept = sigset_t()
        sigemptyset(&brokenPipe)
        sigaddset(&brokenPipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &brokenPipe, &kept)
        body()
        // A signal that is pending for this thread must not arrive later.
        var none = timespec()
        while sigtimedwait(&brokenPipe, nil, &none) == SIGPIPE {}
        pthread_sigmask(SIG_SETMASK, &kept, nil)
    }
}
