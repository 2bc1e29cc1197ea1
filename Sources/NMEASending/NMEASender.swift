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
        (mailbox, self.destination) = try Self.begin(destination, names: { [$0] }, report)
    }

    /// Creates a sender with a replacement for the system's names.
    ///
    /// - Parameter names: returns the names or addresses that a host stands for.
    package init(
        _ destination: NMEADestination, names: @escaping @Sendable (_ host: String) -> [String],
        report: @escaping @Sendable (NMEAStatus) -> Void
    ) throws(NMEAError) {
        (mailbox, self.destination) = try Self.begin(destination, names: names, report)
    }

    private static func begin(
        _ destination: NMEADestination, names: @escaping @Sendable (_ host: String) -> [String],
        _ report: @escaping @Sendable (NMEAStatus) -> Void
    ) throws(NMEAError) -> (NMEAMailbox, NMEADestination) {
        let mailbox = try NMEAMailbox(for: destination)
        let outlet: NMEAOutlet
        var actual = destination
        switch destination {
        case .udp, .tcp, .file:
            let seed = UInt64(bitPattern: now.nanoseconds)
            outlet = .connection(NMEAConnection(destination, names: names, seed: seed))
        case .tcpListener, .unixListener:
            let listener = try NMEAListener(destination)
            outlet = .listener(listener)
            actual = listener.destination
        }
        DispatchQueue(label: "IndoorLocalization.NMEASender", qos: .userInitiated).async {
            BlockedSignal.withoutBrokenPipe { Self.run(outlet, mailbox, report) }
        }
        return (mailbox, actual)
    }

    deinit { mailbox.end(within: Self.closingTime) }

    /// Sends the sentences of one position; does nothing if there are none.
    public func send(_ sentences: [NMEASentence]) {
        if !sentences.isEmpty { mailbox.put(sentences.flatMap(\.bytes)) }
    }

    /// Ends the sender: sends the rest within a second, if the destination accepts it, and closes the connection.
    public func finish() async { await finish(within: Self.closingTime) }

    /// Ends the sender as ``finish()`` does, with another time limit for the rest.
    package func finish(within closingTime: Duration) async {
        mailbox.end(within: closingTime)
        // The thread may be waiting for a name server.
        let limit = Int(closingTime.nanoseconds) * 2
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(limit)) { [mailbox] in mailbox.noteEnd() }
        await mailbox.waitForEnd()
    }

    private static func run(
        _ outlet: NMEAOutlet, _ mailbox: NMEAMailbox, _ report: @Sendable (NMEAStatus) -> Void
    ) {
        var outlet = outlet
        var deadline: Instant?
        while true {
            let (cycles, closingTime) = mailbox.take()
            for cycle in cycles { outlet.append(cycle) }
            // New cycles are written at once, without waiting for an event.
            outlet.advance([], at: now)
            outlet.drainStatuses().forEach(report)
            if let closingTime {
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

/// A change in the connection of a sender, for a log.
public enum NMEAStatus: Hashable, Sendable {
    /// Sentences are written; `lost` is the number of positions that were lost since the last failure.
    case sending(lost: Int)
    /// Sentences can't be written. The sender tries again, and keeps the newest positions. Each error is reported once.
    case failed(NMEAError)
    /// A reader of a listening sender is too slow, and loses positions.
    case readerTooSlow
}

/// The selection of the connection changes that a log contains.
///
/// A destination that accepts one position and fails at the next doesn't count as working, so that the same failure
/// isn't reported repeatedly.
struct StatusLog: Sendable {
    /// The number of successive positions without an error after which a destination counts as working.
    private let proof: Int
    private var written = 0
    private var isWorking = false
    private var reported: NMEAError?

    /// Creates a log.
    ///
    /// - Parameter isDatagram: whether the system reports the loss of a position only later, after some seconds if the
    ///   host doesn't answer.
    init(isDatagram: Bool) { proof = isDatagram ? 10 : 2 }

    /// Notes a position that was written without an error.
    mutating func succeed(losses: () -> Int) -> NMEAStatus? {
        written += 1
        guard !isWorking, written >= proof else { return nil }
        isWorking = true
        reported = nil
        return .sending(lost: losses())
    }

    /// Notes a failure.
    mutating func fail(_ error: NMEAError) -> NMEAStatus? {
        written = 0
        isWorking = false
        guard reported != error else { return nil }
        reported = error
        return .failed(error)
    }
}

/// The cycles on their way to the thread of a sender.
///
/// A class, because the sender and its thread share it.
final class NMEAMailbox: Sendable {
    private struct State: Sendable {
        var cycles: [[UInt8]] = []
        /// The time limit for the cycles that are left; nil before the end.
        var closingTime: Duration?
        var hasEnded = false
        /// Resumed at the end of the thread.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// The read end of a pipe, which is readable after a call of `put(_:)` or `end()`.
    let descriptor: Int32
    private let other: Int32
    private let state = Guarded(State())

    /// - Throws: the number of the system's error.
    init(for destination: NMEADestination) throws(NMEAError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .unreachable(destination, number: errno) }
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

    /// Adds a cycle. If the mailbox is full because the thread is busy, the oldest cycle is lost.
    func put(_ cycle: [UInt8]) {
        state.withLock { state in
            if state.cycles.count == CycleQueue.capacity { state.cycles.removeFirst() }
            state.cycles.append(cycle)
        }
        ring()
    }

    /// Ends the thread once all cycles are written, or after a time limit.
    func end(within closingTime: Duration) {
        state.withLock { $0.closingTime = $0.closingTime ?? closingTime }
        ring()
    }

    /// Returns the new cycles, and the time limit for them if the thread is to end.
    func take() -> (cycles: [[UInt8]], closingTime: Duration?) {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(descriptor, &bytes, bytes.count) > 0 {}
        return state.withLock { state in
            defer { state.cycles = [] }
            return (state.cycles, state.closingTime)
        }
    }

    /// Waits until `noteEnd()`.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiting.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    /// Ends all calls of `waitForEnd()`.
    func noteEnd() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.hasEnded = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private func ring() {
        var byte: UInt8 = 1
        // If the pipe is full, the thread wakes up anyway.
        _ = write(other, &byte, 1)
    }
}

/// The bytes that wait for one reader: the rest of a cycle that is partly written, and whole cycles behind it.
///
/// If the queue is full, the oldest whole cycle is lost, because a new position is more useful than an old one.
package struct CycleQueue: Sendable {
    /// The number of whole cycles that wait: about 10 KB.
    package static let capacity = 32

    /// The rest of the cycle that is partly written.
    private var rest: ArraySlice<UInt8> = []
    private var waiting: [[UInt8]] = []
    /// The number of lost cycles since the last `drainLosses()`.
    package private(set) var lost = 0

    package init() {}

    package var isEmpty: Bool { rest.isEmpty && waiting.isEmpty }

    /// Appends a cycle.
    package mutating func append(_ cycle: [UInt8]) {
        if waiting.count == Self.capacity {
            waiting.removeFirst()
            lost += 1
        }
        waiting.append(cycle)
    }

    /// The bytes to write next, at most to the end of a cycle, so that each datagram contains one cycle.
    package mutating func next() -> ArraySlice<UInt8> {
        if rest.isEmpty, !waiting.isEmpty { rest = waiting.removeFirst()[...] }
        return rest
    }

    /// Removes bytes that were written.
    package mutating func consume(_ count: Int) { rest = rest.dropFirst(count) }

    /// Removes the rest of a cycle, because its reader has disconnected.
    package mutating func dropRest() {
        guard !rest.isEmpty else { return }
        rest = []
        lost += 1
    }

    /// Returns the number of lost cycles since the last call.
    package mutating func drainLosses() -> Int {
        defer { lost = 0 }
        return lost
    }
}
