import Glibc
import IndoorVocabulary

/// The connection of a sender to one reader: datagrams, TCP, or a file.
///
/// After a failure, it is opened again with increasing pauses. No call blocks, except for the resolution of a host's
/// name.
struct NMEAConnection: Sendable {
    private enum State: Sendable {
        case closed(retry: Instant)
        case connecting(Int32, until: Instant)
        case open(Int32)
    }

    private static let firstPause = Duration.milliseconds(250)
    private static let longestPause = Duration.seconds(5)
    /// The time limit of the connection to a host that doesn't answer.
    private static let connectionTime = Duration.seconds(10)

    private let destination: NMEADestination
    private var state = State.closed(retry: .zero)
    private var queue = CycleQueue()
    private var backoff: Backoff
    private var log: StatusLog
    /// The changes since the last call of `drainStatuses()`.
    private var statuses: [NMEAStatus] = []

    init(_ destination: NMEADestination, seed: UInt64) {
        self.destination = destination
        log = StatusLog(isDatagram: destination.isDatagram)
        backoff = Backoff(first: Self.firstPause, seed: seed)
    }

    private var isDatagram: Bool { destination.isDatagram }
    private var isStream: Bool { if case .tcp = destination { true } else { false } }

    /// Whether nothing is left to write, or nothing can be written now.
    var isIdle: Bool {
        if case .closed = state { true } else { queue.isEmpty }
    }

    /// The descriptors to wait for, with their events.
    var watched: [pollfd] {
        switch state {
        case .closed: []
        case .connecting(let descriptor, _): [pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)]
        case .open(let descriptor):
            [
                pollfd(
                    fd: descriptor, events: (isStream ? Int16(POLLIN) : 0) | (queue.isEmpty ? 0 : Int16(POLLOUT)),
                    revents: 0)
            ]
        }
    }

    /// The instant at which the connection has work even without an event; nil if there is none.
    var wake: Instant? {
        switch state {
        case .closed(let retry): queue.isEmpty ? nil : retry
        case .connecting(_, let limit): limit
        case .open: nil
        }
    }

    mutating func append(_ cycle: [UInt8]) { queue.append(cycle) }

    mutating func drainStatuses() -> [NMEAStatus] {
        defer { statuses = [] }
        return statuses
    }

    mutating func close() {
        switch state {
        case .closed: break
        case .connecting(let descriptor, _), .open(let descriptor): Glibc.close(descriptor)
        }
        state = .closed(retry: .zero)
    }

    /// Does the work that is due.
    ///
    /// - Parameter events: the events of the descriptors in `watched`.
    mutating func advance(_ events: [pollfd], at now: Instant) {
        let ready = events.first?.revents ?? 0
        switch state {
        case .closed(let retry):
            if !queue.isEmpty, retry <= now { open(at: now) }
        case .connecting(let descriptor, let limit):
            if ready != 0 {
                let number = Self.pendingError(of: descriptor)
                if number == 0 { state = .open(descriptor) } else { fail(number, at: now) }
            } else if limit <= now {
                fail(ETIMEDOUT, at: now)
            }
        case .open(let descriptor): observe(ready, of: descriptor, at: now)
        }
        if case .open(let descriptor) = state { write(to: descriptor, at: now) }
    }

    /// Detects the end of an open connection.
    private mutating func observe(_ ready: Int16, of descriptor: Int32, at now: Instant) {
        let isBroken = ready & Int16(POLLHUP | POLLERR) != 0
        if isDatagram {
            // The error of an earlier datagram; the socket stays usable.
            if isBroken { note(.unreachable(destination, number: Self.pendingError(of: descriptor))) }
        } else if isStream {
            if isBroken || ready & Int16(POLLIN) != 0, !Self.discardInput(of: descriptor) { fail(ECONNRESET, at: now) }
        } else if isBroken {
            fail(EPIPE, at: now)
        }
    }

    private mutating func open(at now: Instant) {
        do throws(NMEAError) {
            switch destination {
            case .udp(let host, let port): try connect(host, port, SOCK_DGRAM, at: now)
            case .tcp(let host, let port): try connect(host, port, SOCK_STREAM, at: now)
            case .file(let path): try openFile(path)
            case .tcpListener, .unixListener: preconditionFailure("\(destination) listens")
            }
        } catch {
            fail(error, at: now)
        }
    }

    /// Opens a file. Only its owner can read a new file, because it contains the locations of a person.
    private mutating func openFile(_ path: String) throws(NMEAError) {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unreachable(destination, number: errno) }
        state = .open(descriptor)
    }

    /// Connects to the first address of the host that the system accepts.
    private mutating func connect(
        _ host: String, _ port: UInt16, _ type: __socket_type, at now: Instant
    ) throws(NMEAError) {
        var number = EADDRNOTAVAIL
        for address in try SystemAddress.all(host, port, type, for: destination) {
            let descriptor = address.socket(type)
            guard descriptor >= 0 else {
                number = errno
                continue
            }
            if isDatagram { Self.allowBroadcast(descriptor) }
            if address.with({ Glibc.connect(descriptor, $0, $1) }) == 0 {
                state = .open(descriptor)
                return
            }
            guard errno != EINPROGRESS else {
                state = .connecting(descriptor, until: now.advanced(by: Self.connectionTime))
                return
            }
            number = errno
            Glibc.close(descriptor)
        }
        throw .unreachable(destination, number: number)
    }

    private mutating func write(to descriptor: Int32, at now: Instant) {
        while !queue.isEmpty {
            let piece = queue.next()
            let count = piece.withUnsafeBytes { bytes in
                if case .file = destination { return Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
                return Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                queue.consume(count)
                if count == piece.count { succeed() }
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN: return
            // The error of an earlier datagram; the socket stays usable, and this position is lost.
            case let number where isDatagram:
                queue.dropRest()
                note(.unreachable(destination, number: number))
            case let number: return fail(number, at: now)
            }
        }
    }

    private mutating func succeed() {
        backoff.reset()
        if let status = log.succeed(losses: { queue.drainLosses() }) { statuses.append(status) }
    }

    private mutating func note(_ error: NMEAError) {
        if let status = log.fail(error) { statuses.append(status) }
    }

    private mutating func fail(_ number: Int32, at now: Instant) {
        fail(.unreachable(destination, number: number), at: now)
    }

    private mutating func fail(_ error: NMEAError, at now: Instant) {
        close()
        queue.dropRest()
        state = .closed(retry: now.advanced(by: min(backoff.next(), Self.longestPause)))
        note(error)
    }

    private static func pendingError(of descriptor: Int32) -> Int32 {
        var number: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &length) == 0 ? number : errno
    }

    private static func allowBroadcast(_ descriptor: Int32) {
        var value: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_BROADCAST, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Discards the data that the reader sends; returns whether the connection is still open.
    static func discardInput(of descriptor: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
    }
}
