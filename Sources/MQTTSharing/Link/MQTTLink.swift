import Dispatch
import Glibc
import IndoorVocabulary

/// One connection to a broker, from the attempt to make it to its end: a thread that waits in poll(2).
///
/// While it connects it cannot be called off, as libmosquitto and the resolver know no way: who loses patience abandons the
/// link, whose thread ends when the system gives up (about two minutes), and says nothing of it.
package final class MQTTLink: Sendable {
    /// What can be asked of a link.
    package enum Operation: Sendable {
        case publish(MQTTMessage)
        /// Publishes a message of quality `atLeastOnce`, and tells when the broker has confirmed it.
        case deliver(MQTTMessage)
        case subscribe(String, MQTTMessage.Quality)
        case unsubscribe(String)
        /// Sends what waits, then says goodbye once the broker has confirmed it.
        case close
    }

    private struct Inbox: Sendable {
        var operations: [Operation] = []
        var isAbandoned = false
    }

    /// Occurrences that may wait to be taken in; more, and the link ends, to begin anew with what the broker retains.
    private static let mostWaiting = 16_384
    /// How long what waits at the end may take to be sent and confirmed.
    private static let closingTime = Duration.seconds(5)

    private let inbox = Guarded(Inbox())
    private let signal = LinkSignal()
    private let broker: MQTTBroker

    private let continuation: AsyncStream<MQTTLinkEvent>.Continuation

    private init(_ broker: MQTTBroker, _ continuation: AsyncStream<MQTTLinkEvent>.Continuation) {
        self.broker = broker
        self.continuation = continuation
    }

    /// Begins to connect.
    package static func open(
        _ broker: MQTTBroker, clientID: String, will: MQTTMessage?, keepAliveSeconds: Int32
    ) -> (link: MQTTLink, occurrences: AsyncStream<MQTTLinkEvent>) {
        let (occurrences, continuation) = AsyncStream.makeStream(
            of: MQTTLinkEvent.self, bufferingPolicy: .bufferingOldest(mostWaiting))
        let link = MQTTLink(broker, continuation)
        DispatchQueue(label: "IndoorLocalization.MQTTLink", qos: .userInitiated).async {
            let kept = blockBrokenPipeSignal()
            do throws(MQTTSharingError) {
                let connection = try MQTTConnection(broker, clientID: clientID, will: will)
                try connection.open(keepAliveSeconds: keepAliveSeconds)
                try link.serve(connection)
            } catch {
                // Where the buffer is full, the end of the stream tells it.
                continuation.yield(.ended(error))
            }
            continuation.finish()
            restoreSignals(kept)
        }
        return (link, occurrences)
    }

    package func ask(_ operation: Operation) {
        inbox.withLock { $0.operations.append(operation) }
        signal.raise()
    }

    /// Ends the link without a goodbye: the broker executes the will. Nothing is told of it any more.
    package func abandon() {
        continuation.finish()
        inbox.withLock { $0.isAbandoned = true }
        signal.raise()
    }

    private func serve(_ connection: MQTTConnection) throws(MQTTSharingError) {
        var deadline: ContinuousClock.Instant?
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
                case .close: deadline = .now + Self.closingTime
                }
            }
            if let deadline, !connection.isBusy || ContinuousClock.now >= deadline {
                return connection.close(before: deadline)
            }
            // A second, as libmosquitto looks for the time to ask the broker whether it is still there.
            try connection.step(signal, atMost: deadline == nil ? 1000 : 100)
            for arrival in connection.takeArrivals() {
                if case .dropped = continuation.yield(MQTTLinkEvent(arrival)) { throw .overrun(host: broker.host) }
            }
        }
    }

    /// OpenSSL writes to sockets whose other end may be closed, which would end the program.
    private static func blockBrokenPipeSignal() -> sigset_t {
        var blocked = sigset_t()
        var kept = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &blocked, &kept)
        return kept
    }

    /// The thread is that of a queue, which others use later.
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
            }
    }
}
