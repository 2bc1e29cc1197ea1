import CNATS
import Dispatch
import IndoorVocabulary

/// A consumer that delivers messages of a stream in order, each once.
///
/// libnats has ordered consumers, which it creates again when their order is interrupted. In version 3.4, the thread
/// that does this uses and frees the consumer's name without a lock. This consumer fails instead, and its owner creates
/// another one that begins after the last message read.
///
/// The server deletes the consumer five seconds after the end of the subscription or of the connection.
final class OrderedSubscription: Sendable {
    /// The interval at which the server reports that it has no message.
    private static let heartbeat = Duration.milliseconds(500)
    /// The time without any message after which the server has lost the consumer. The connection itself may still work,
    /// for example if another server of a cluster had the consumer.
    private static let silence = Duration.seconds(5)
    /// The time without a subscription after which the server deletes the consumer.
    private static let inactivity = Duration.seconds(5)
    /// The largest size of the messages that wait. The server stops after at most 32 MiB and one message of at most 64
    /// MiB, until a flow control message is answered. Only heartbeats that aren't read for days reach this limit, which
    /// interrupts the order.
    private static let mostBytes: Int32 = 128 << 20

    private struct Position: Sendable {
        /// The number of the messages so far.
        var count: UInt64 = 0
        var heardAt = ContinuousClock.now
    }

    private let connection: NATSConnection
    let subscription: NATSSubscription
    private let position = Guarded(Position())
    private let silence: Duration

    /// Creates a consumer. This function blocks.
    ///
    /// - Parameters:
    ///   - subject: the subjects of the messages.
    ///   - silence: the time without any message after which ``next(within:)`` fails.
    ///   - configure: chooses the first message.
    init(
        _ connection: NATSConnection, stream: String, subject: String, silence: Duration = OrderedSubscription.silence,
        configure: (inout jsConsumerConfig) -> Void
    ) throws(NATSFailure) {
        var inbox: UnsafeMutablePointer<CChar>?
        try NATSFailure.check(natsInbox_Create(&inbox))
        defer { natsInbox_Destroy(inbox) }
        let address = UnsafePointer(inbox)
        // The server begins to deliver when the subscription exists.
        try subject.withCString { subject in
            Result { () throws(NATSFailure) in
                try connection.addConsumer(stream: stream) { configuration in
                    configuration.DeliverSubject = address
                    configuration.FilterSubject = subject
                    configuration.AckPolicy = js_AckNone
                    configuration.MaxDeliver = 1
                    configuration.FlowControl = true
                    configuration.Heartbeat = Self.heartbeat.nanoseconds
                    configuration.InactiveThreshold = Self.inactivity.nanoseconds
                    configuration.MemoryStorage = true
                    configuration.Replicas = 1
                    configure(&configuration)
                }
            }
        }.get()
        var pointer: OpaquePointer?
        let status = natsConnection_SubscribeSync(&pointer, connection.connection.pointer, inbox)
        guard status == NATS_OK, let pointer else { throw NATSFailure(status) }
        natsSubscription_SetPendingLimits(pointer, -1, Self.mostBytes)
        subscription = NATSSubscription(pointer, of: connection)
        self.connection = connection
        self.silence = silence
    }

    /// Whether ``next(within:)`` has something to do, with or without a message for the caller.
    var isReady: Bool {
        var count: Int32 = 0
        let status = natsSubscription_GetPending(subscription.pointer, &count, nil)
        return count > 0 || status != NATS_OK
    }

    /// Returns the next message; nil if none arrives in time. One task reads at a time.
    ///
    /// - Parameter patience: the longest time that the call blocks; by default, it doesn't.
    /// - Throws: if the order is interrupted. No message follows then. All messages so far were in order.
    func next(within patience: Duration = .zero) throws(NATSFailure) -> OrderedMessage? {
        let deadline = patience > .zero ? ContinuousClock.now + patience : nil
        while true {
            let rest = deadline.map { max(.zero, ContinuousClock.now.duration(to: $0)) } ?? .zero
            var pointer: OpaquePointer?
            let status = natsSubscription_NextMsg(
                &pointer, subscription.pointer, (rest.nanoseconds + 999_999) / 1_000_000)
            guard status == NATS_OK, let pointer else {
                guard status == NATS_TIMEOUT else { throw NATSFailure(status) }
                if position.withLock(\.heardAt).duration(to: .now) > silence {
                    throw NATSFailure(NATS_MISSED_HEARTBEAT, text: "the server has sent nothing for \(silence)")
                }
                if let deadline, .now < deadline { continue }
                return nil
            }
            let message = OrderedMessage(pointer)
            let last = position.withLock { position in
                position.heardAt = .now
                if message.order != nil { position.count += 1 }
                return position.count
            }
            guard let order = message.order else {
                try answer(message, after: last)
                continue
            }
            guard order == last else { throw Self.gap(after: last) }
            return message
        }
    }

    /// Answers a control message of the server once all messages before it are read.
    ///
    /// - Parameter last: the number of the messages so far.
    private func answer(_ control: borrowing OrderedMessage, after last: UInt64) throws(NATSFailure) {
        // Anyone may send to an inbox. Ignore messages that aren't from the consumer.
        guard control.header("Status") == "100" else { return }
        if let delivered = control.header("Nats-Last-Consumer").flatMap({ UInt64($0) }), delivered != last {
            throw Self.gap(after: last)
        }
        // A heartbeat repeats the subject if an answer was lost.
        if let subject = control.reply ?? control.header("Nats-Consumer-Stalled") { connection.sendEmpty(to: subject) }
    }

    private static func gap(after count: UInt64) -> NATSFailure {
        NATSFailure(NATS_MISMATCH, text: "the server's messages are not in order after message \(count)")
    }
}

/// A message of an ``OrderedSubscription``.
struct OrderedMessage: ~Copyable {
    private let pointer: OpaquePointer
    /// The number of this message among those of its consumer, from 1; nil for a message that isn't from a stream.
    let order: UInt64?
    /// The number in the stream.
    let sequence: UInt64
    /// The time at which the stream stored it, by the server's clock, in nanoseconds since 1970.
    let storedAt: Int64
    /// The number of messages that followed this one in the consumer when the server sent it.
    let pending: UInt64

    /// Takes ownership of a message of libnats, which is destroyed with this value.
    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        var data: UnsafeMutablePointer<jsMsgMetaData>?
        defer { jsMsgMetaData_Destroy(data) }
        guard natsMsg_GetMetaData(&data, pointer) == NATS_OK, let data = data?.pointee else {
            (order, sequence, storedAt, pending) = (nil, 0, 0, 0)
            return
        }
        order = data.Sequence.Consumer
        sequence = data.Sequence.Stream
        storedAt = data.Timestamp
        pending = data.NumPending
    }

    deinit { natsMsg_Destroy(pointer) }

    var subject: String { String(cString: natsMsg_GetSubject(pointer)) }

    /// The subject for an answer; nil for none.
    var reply: String? { natsMsg_GetReply(pointer).map { String(cString: $0) } }

    var bytes: [UInt8] {
        let count = Int(natsMsg_GetDataLength(pointer))
        return [UInt8](UnsafeRawBufferPointer(start: natsMsg_GetData(pointer), count: count))
    }

    /// Returns the value of a header; nil if the message doesn't have it.
    func header(_ name: String) -> String? {
        var value: UnsafePointer<CChar>?
        guard natsMsgHeader_Get(pointer, name, &value) == NATS_OK else { return nil }
        return value.map { String(cString: $0) }
    }
}

/// A subscription of libnats that is read without a separate thread.
///
/// The subscription ends when its last reference is released. Each reader keeps a reference, so that no other task can
/// end the subscription while it is read.
final class NATSSubscription: Sendable {
    private let connection: NATSConnection
    private let handle: NATSHandle

    var pointer: OpaquePointer { handle.pointer }

    init(_ pointer: OpaquePointer, of connection: NATSConnection) {
        self.connection = connection
        handle = NATSHandle(pointer: pointer)
    }

    deinit { connection.retire(subscription: handle) }
}

/// A timer that resumes the readers whose subscription has messages.
///
/// libnats calls no function when a message arrives for a subscription that is read without a separate thread. One
/// timer checks all waiting subscriptions, which takes less than a microsecond for each.
final class NATSPulse: Sendable {
    private struct Waiter: Sendable {
        var subscription: OrderedSubscription
        var deadline: ContinuousClock.Instant
        var continuation: CheckedContinuation<Void, Never>
    }

    /// The longest delay between the arrival of a message and the resumption of its reader, in milliseconds.
    private static let period = 4

    private let waiters = Guarded<[Waiter]>([])
    private let timer: PulseTimer

    init() {
        let timer = DispatchSource.makeTimerSource(
            queue: DispatchQueue(label: "IndoorLocalization.NATSPulse", qos: .userInitiated))
        self.timer = PulseTimer(source: timer)
        timer.schedule(
            deadline: .now(), repeating: .milliseconds(Self.period), leeway: .milliseconds(1))
        timer.setEventHandler { [weak self] in self?.resumeReady() }
        timer.activate()
    }

    deinit { timer.source.cancel() }

    /// Waits until the subscription has a message, or until the deadline.
    func wait(for subscription: OrderedSubscription, until deadline: ContinuousClock.Instant) async {
        await withCheckedContinuation { continuation in
            waiters.withLock {
                $0.append(Waiter(subscription: subscription, deadline: deadline, continuation: continuation))
            }
        }
    }

    private func resumeReady() {
        let ready = waiters.withLock { waiters in
            guard !waiters.isEmpty else { return [Waiter]() }
            let now = ContinuousClock.now
            var ready: [Waiter] = []
            waiters.removeAll { waiter in
                guard waiter.subscription.isReady || waiter.deadline <= now else { return false }
                ready.append(waiter)
                return true
            }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }
}

/// `@unchecked`, since Dispatch doesn't declare that a source can be cancelled on any thread.
private struct PulseTimer: @unchecked Sendable {
    let source: any DispatchSourceTimer
}
