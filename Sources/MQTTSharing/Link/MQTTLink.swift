import Dispatch
import Glibc
import IndoorVocabulary

/// An event of a link to a broker (`MQTTLink`).
package enum MQTTLinkEvent: Hashable, Sendable {
    /// The broker accepted the connection.
    case accepted
    case subscribed(filter: String, isGranted: Bool)
    case received(MQTTMessage)
    /// The broker confirmed a message for which confirmation was requested.
    case confirmed
    /// The broker refused a message of quality `atLeastOnce`, which only brokers with MQTT 5 report. If confirmation was
    /// requested (`isAwaited`), `confirmed` doesn't follow.
    case refused(topic: String, reason: MQTTRefusal, isAwaited: Bool)
    /// The link ended. No event follows.
    case ended(MQTTSharingError)
}

/// The link to a broker: a thread that connects, and then waits in poll(2) until the connection ends.
///
/// The connection attempt can't be canceled, because neither libmosquitto nor the resolver supports that. A caller that
/// doesn't want to wait abandons the link. The thread then ends when the system gives up, after about two minutes, and
/// reports nothing.
package final class MQTTLink: Sendable {
    /// An operation of a link.
    package enum Operation: Sendable {
        case publish(MQTTMessage)
        /// Publishes a message of quality `atLeastOnce`, and reports the broker's confirmation.
        case deliver(MQTTMessage)
        case subscribe(String, MQTTMessage.Quality)
        case unsubscribe(String)
        /// Sends the pending messages, and disconnects once the broker has confirmed them.
        case close
    }

    private struct Inbox: Sendable {
        var operations: [Operation] = []
        var isClosing = false
        var isAbandoned = false
    }

    /// The largest packet of a link that doesn't set one, in bytes.
    package static let largestPacket = 1 << 20
    /// The maximum payload in bytes that the stream buffers. If packets are large, the minimum number of events in
    /// ``mostWaiting`` has precedence.
    private static let waitingBytes = 64 << 20
    /// The range of the stream's capacity in events. While the buffer is full, the link doesn't read, so that the
    /// broker waits, or drops messages by its own rules.
    private static let mostWaiting = 256...16_384
    /// The time that the link waits for the receiver of the events, before it ends.
    private static let longestStall = Duration.seconds(10)
    /// The time at the end of a link that doesn't set one after which it no longer waits for a broker that confirms none of
    /// the pending messages.
    package static let closingTime = Duration.seconds(5)
    /// How many times as long the link waits at its end for a broker that confirms messages.
    private static let patienceWhileConfirming = 5
    /// The time without a confirmation after which the broker confirms none. A pause of this process, in which the broker had
    /// nothing to confirm, counts as one step.
    private static let idleTime = Duration.seconds(1)
    private static let longestStep = Duration.milliseconds(100)
    /// The shortest time at the end that the link waits for the broker to close the connection.
    private static let shortestDrain = Duration.seconds(1)

    private let inbox = Guarded(Inbox())
    private let signal = LinkSignal()
    private let broker: MQTTBroker
    private let closingTime: Duration

    private let continuation: AsyncStream<MQTTLinkEvent>.Continuation

    private init(
        _ broker: MQTTBroker, closingTime: Duration, _ continuation: AsyncStream<MQTTLinkEvent>.Continuation
    ) {
        self.broker = broker
        self.closingTime = closingTime
        self.continuation = continuation
    }

    /// Starts to connect, with MQTT 5, or with MQTT 3.1.1 if the broker doesn't support version 5.
    ///
    /// - Parameters:
    ///   - largestPacket: The largest packet that the broker may send, in bytes. With MQTT 5, the broker drops larger
    ///     messages; otherwise the link ends with `MQTTSharingError.oversized`.
    ///   - closingTime: The time at the end after which the link no longer waits for a broker that confirms none of the
    ///     pending messages.
    ///   - version: The latest version to try.
    package static func open(
        _ broker: MQTTBroker, clientID: String, will: MQTTMessage?, keepAliveSeconds: Int32,
        largestPacket: Int = largestPacket, closingTime: Duration = closingTime, version: MQTTVersion = .five
    ) -> (link: MQTTLink, occurrences: AsyncStream<MQTTLinkEvent>) {
        let capacity = min(max(waitingBytes / largestPacket, mostWaiting.lowerBound), mostWaiting.upperBound)
        let (occurrences, continuation) = AsyncStream.makeStream(
            of: MQTTLinkEvent.self, bufferingPolicy: .bufferingOldest(capacity))
        let link = MQTTLink(broker, closingTime: closingTime, continuation)
        DispatchQueue(label: "IndoorLocalization.MQTTLink", qos: .userInitiated).async {
            let kept = blockBrokenPipeSignal()
            do throws(MQTTSharingError) {
                for version in version == .five ? [MQTTVersion.five, .three] : [.three] {
                    let connection = try MQTTConnection(
                        broker, clientID: clientID, will: will, version, largestPacket: largestPacket)
                    do throws(MQTTSharingError) {
                        try connection.open(keepAliveSeconds: keepAliveSeconds)
                        try link.serve(connection)
                        break
                    } catch {
                        guard connection.failsForItsVersion(error) else { throw error }
                    }
                }
            } catch {
                // If the buffer is full, the end of the stream reports the overflow.
                continuation.yield(.ended(error))
            }
            continuation.finish()
            restoreSignals(kept)
        }
        return (link, occurrences)
    }

    package func ask(_ operation: Operation) {
        inbox.withLock { inbox in
            inbox.operations.append(operation)
            if case .close = operation { inbox.isClosing = true }
        }
        signal.raise()
    }

    /// Whether the caller has asked to close the link.
    var isClosing: Bool { inbox.withLock { $0.isClosing } }

    /// Ends the link without disconnecting, so that the broker publishes the will. The link reports no further events.
    package func abandon() {
        continuation.finish()
        inbox.withLock { $0.isAbandoned = true }
        signal.raise()
    }

    private func serve(_ connection: MQTTConnection) throws(MQTTSharingError) {
        var deadline: ContinuousClock.Instant?
        var (unconfirmed, idle, steppedAt) = (Int.max, Duration.zero, ContinuousClock.now)
        var held: [MQTTLinkEvent] = []
        var movedAt = ContinuousClock.now
        while true {
            let inbox = self.inbox.withLock { inbox in
                defer { inbox.operations.removeAll() }
                return inbox
            }
            if inbox.isAbandoned { return }
            for operation in inbox.operations {
                switch operation {
                case .publish(let message): try connection.publish(message)
                case .deliver(let message): try connection.publish(message, isAwaited: true)
                case .subscribe(let filter, let quality): try connection.subscribe(filter, quality)
                case .unsubscribe(let filter): try connection.unsubscribe(filter)
                case .close: deadline = .now + closingTime
                }
            }
            if let deadline {
                // While the broker confirms messages, only this process is late, such as on a busy machine.
                let now = ContinuousClock.now
                // While the receiver is slow, the link doesn't read, so that no confirmation can arrive.
                let isIdle = held.isEmpty && connection.unconfirmedCount >= unconfirmed
                idle = isIdle ? idle + min(steppedAt.duration(to: now), Self.longestStep) : .zero
                (unconfirmed, steppedAt) = (connection.unconfirmedCount, now)
                let last = deadline + (idle >= Self.idleTime ? .zero : closingTime * (Self.patienceWhileConfirming - 1))
                if !connection.isBusy || now >= last {
                    return connection.close(before: max(deadline, now + Self.shortestDrain))
                }
            }
            // At most a second, because libmosquitto must check whether a keep-alive ping is due.
            let pause: Int32 = held.isEmpty ? (deadline == nil ? 1000 : 100) : 1
            try connection.step(signal, atMost: pause, isReading: held.isEmpty)
            held += connection.popArrivals().map(MQTTLinkEvent.init)
            let count = held.count
            held = Array(held.drop { event in if case .dropped = continuation.yield(event) { false } else { true } })
            if held.isEmpty || held.count < count {
                movedAt = .now
            } else if movedAt.duration(to: .now) > Self.longestStall {
                throw .overrun(host: broker.host)
            }
        }
    }

    /// Blocks SIGPIPE, which would end the program when OpenSSL writes to a closed connection.
    private static func blockBrokenPipeSignal() -> sigset_t {
        var blocked = sigset_t()
        var kept = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &blocked, &kept)
        return kept
    }

    /// Restores the signal mask, because the queue's thread is reused.
    private static func restoreSignals(_ kept: sigset_t) {
        var (broken, none, kept) = (sigset_t(), timespec(), kept)
        sigemptyset(&broken)
        sigaddset(&broken, SIGPIPE)
        while sigtimedwait(&broken, nil, &none) == SIGPIPE {}
        pthread_sigmask(SIG_SETMASK, &kept, nil)
    }
}

extension MQTTLinkEvent {
    fileprivate init(_ arrival: MQTTConnection.Arrival) {
        self =
            switch arrival {
            case .accepted: .accepted
            case .subscribed(let filter, let isGranted): .subscribed(filter: filter, isGranted: isGranted)
            case .message(let message): .received(message)
            case .confirmed: .confirmed
            case .refused(let topic, let reason, let isAwaited):
                .refused(topic: topic, reason: reason, isAwaited: isAwaited)
            }
    }
}

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
