import CNATS
import Dispatch
import Glibc
import IndoorVocabulary
import TagTracking

/// The log of a fleet's readings in the JetStream stream `READINGS`.
///
/// A reading has the subject `readings.PARTITION.TAG`. `append(_:)` returns after the server has acknowledged all
/// readings: then a majority of the stream's replicas has stored each of them.
package final class NATSReadingLog: ReadingLog {
    /// The largest number of readings that wait for their acknowledgement.
    static let mostPending = 4_096
    /// The time to wait for acknowledgements in milliseconds before the readings are sent again.
    private static let acknowledgementTime: Int64 = 2_000
    /// The pauses before readings are sent again, in microseconds.
    private static let pauses: [UInt32] = [50_000, 100_000, 200_000, 400_000]

    private let connection: NATSConnection
    private let partitioning: Partitioning
    private let publisher: NATSPublisher
    private let failures: Failures
    private let pulse: NATSPulse
    /// The queue of all appends, in their order. It blocks while acknowledgements are missing.
    private let queue = DispatchQueue(label: "IndoorLocalization.NATSPublisher", qos: .userInitiated)

    /// The failures of messages.
    private final class Failures: Sendable {
        private let latest = Guarded<(count: Int, failure: NATSFailure?)>((0, nil))

        func record(_ failure: NATSFailure) { latest.withLock { $0 = ($0.count + 1, failure) } }

        func take() -> NATSFailure? {
            latest.withLock { latest in
                defer { latest = (0, nil) }
                return latest.failure
            }
        }
    }

    /// Opens the log.
    ///
    /// - Throws: `.misconfigured` if the stream doesn't exist.
    package init(_ connection: NATSConnection, partitioning: Partitioning) async throws(FleetStoreError) {
        self.connection = connection
        self.partitioning = partitioning
        let failures = Failures()
        self.failures = failures
        publisher = try await NATSPublisher(
            connection, stream: FleetNames.stream, mostPending: Self.mostPending, patience: Self.acknowledgementTime
        ) { failures.record($0) }
        pulse = NATSPulse()
    }

    package func append(_ readings: [TagReading]) async throws(FleetStoreError) {
        let isCancelled = Flag()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [self] in
                    var result = Result<Void, FleetStoreError>.success(())
                    var rest = readings[...]
                    while case .success = result, !rest.isEmpty {
                        let part = rest.prefix(Self.mostPending)
                        rest = rest.dropFirst(part.count)
                        result = Result { () throws(FleetStoreError) in try store(part, isCancelled) }
                    }
                    continuation.resume(returning: result)
                }
            }
        } onCancel: {
            isCancelled.raise()
        }
        try result.get()
    }

    /// Sends readings until all are acknowledged. If an acknowledgement is missing, all are sent again, and the server
    /// drops the duplicates by their identifiers.
    private func store(_ readings: ArraySlice<TagReading>, _ isCancelled: Flag) throws(FleetStoreError) {
        for attempt in 0... {
            guard let failure = send(readings) else { return }
            let error = failure.error(key: FleetNames.stream, limit: connection.largestMessage)
            guard error.isTransient, !isCancelled.isRaised else { throw error }
            usleep(Self.pauses[min(attempt, Self.pauses.count - 1)])
        }
    }

    /// Sends readings once; returns nil if all were acknowledged.
    private func send(_ readings: ArraySlice<TagReading>) -> NATSFailure? {
        _ = failures.take()
        var failure: NATSFailure?
        do throws(NATSFailure) {
            for reading in readings {
                try publisher.send(
                    reading.encoded(), to: FleetNames.subject(of: reading.tag, in: partitioning), id: reading.logID)
            }
        } catch { failure = error }
        do throws(NATSFailure) {
            try publisher.flush(within: failure == nil ? Self.acknowledgementTime : 1)
        } catch { failure = failure ?? error }
        if let reported = failures.take() { failure = reported }
        // Later acknowledgements of this attempt are ignored.
        if failure != nil { publisher.forget() }
        return failure
    }

    package func reader(
        ofPartition partition: Int, after sequence: UInt64
    ) async throws(FleetStoreError) -> any ReadingLogReader {
        let reader = NATSLogReader(connection, pulse, partition: partition, after: sequence)
        try await reader.subscribe()
        return reader
    }
}

/// A flag that one thread raises and another one reads.
final class Flag: Sendable {
    private let state = Guarded(false)

    var isRaised: Bool { state.withLock(\.self) }

    func raise() { state.withLock { $0 = true } }
}

/// A reader of a partition: an ordered consumer of the stream from a sequence.
///
/// When the connection was broken or the order is interrupted, the reader creates the consumer again, from the entry
/// after the last one that it has read.
final class NATSLogReader: ReadingLogReader {
    private struct State: Sendable {
        var sequence: UInt64
        /// The consumer; nil if it must be created again.
        var subscription: OrderedSubscription?
        /// The connection's generation of the consumer.
        var generation = 0
    }

    private let connection: NATSConnection
    private let pulse: NATSPulse
    private let partition: Int
    private let state: Guarded<State>

    init(_ connection: NATSConnection, _ pulse: NATSPulse, partition: Int, after sequence: UInt64) {
        self.connection = connection
        self.pulse = pulse
        self.partition = partition
        state = Guarded(State(sequence: sequence))
    }

    /// The consumer; nil if it must be created again.
    var subscription: OrderedSubscription? { state.withLock(\.subscription) }

    /// Creates the consumer, again if it existed before.
    @discardableResult func subscribe() async throws(FleetStoreError) -> OrderedSubscription {
        await close()
        let generation = connection.generation
        let (sequence, partition) = (state.withLock(\.sequence), partition)
        let subscription = try await connection.blocking(key: FleetNames.stream) {
            [connection] () throws(NATSFailure) in
            try OrderedSubscription(
                connection, stream: FleetNames.stream, subject: FleetNames.subjects(ofPartition: partition)
            ) { config in
                config.DeliverPolicy = js_DeliverByStartSequence
                config.OptStartSeq = sequence + 1
            }
        }
        state.withLock { state in
            state.subscription = subscription
            state.generation = generation
        }
        return subscription
    }

    func next(atMost count: Int, within patience: Duration) async throws(FleetStoreError) -> LogBatch {
        guard connection.isConnected else {
            throw .unavailable(reason: "\(FleetNames.stream): the connection is broken")
        }
        let deadline = ContinuousClock.now + patience
        let (known, generation) = state.withLock { ($0.subscription, $0.generation) }
        let subscription: OrderedSubscription
        if let known, generation == connection.generation {
            subscription = known
        } else {
            subscription = try await subscribe()
        }
        var batch = drain(subscription, atMost: count)
        // A heartbeat ends the wait too.
        while batch.entries.isEmpty, batch.damaged == 0, self.subscription != nil, .now < deadline {
            await pulse.wait(for: subscription, until: deadline)
            batch = drain(subscription, atMost: count)
        }
        return batch
    }

    /// Returns the messages that have arrived. It doesn't block.
    private func drain(_ subscription: OrderedSubscription, atMost count: Int) -> LogBatch {
        var batch = LogBatch()
        do throws(NATSFailure) {
            while batch.entries.count < count, let message = try subscription.next() {
                if let reading = try? TagReading(decoding: message.bytes) {
                    let storedAt = Instant(nanoseconds: message.storedAt)
                    batch.entries.append(
                        LogEntry(sequence: message.sequence, storedAt: storedAt, reading: reading))
                } else {
                    batch.damaged += 1
                }
                batch.pending = message.pending
                let sequence = message.sequence
                state.withLock { $0.sequence = max($0.sequence, sequence) }
            }
        } catch {
            // The next call creates the consumer again. That may fail, so this call must return the entries so far.
            state.withLock { $0.subscription = nil }
        }
        return batch
    }

    func close() async { state.withLock { $0.subscription = nil } }
}

/// A publisher in JetStream that doesn't wait for the acknowledgement of each message.
final class NATSPublisher: Sendable {
    /// The receiver of the failures, which libnats calls on its own thread.
    private final class Failures: Sendable {
        let report: @Sendable (NATSFailure) -> Void

        init(_ report: @escaping @Sendable (NATSFailure) -> Void) { self.report = report }
    }

    private let connection: NATSConnection
    private let context: NATSHandle
    /// Whether a message was sent. The value stays locked while a message is sent, because ``forget()`` could otherwise
    /// get the message before libnats has copied it into its buffer.
    private let hasSent = Guarded(false)

    /// Opens the publisher.
    ///
    /// - Parameters:
    ///   - mostPending: the largest number of messages that wait for their acknowledgement.
    ///   - patience: the time in milliseconds that a message waits while this number is reached.
    ///   - report: receives the failure of each message that the server doesn't acknowledge.
    /// - Throws: `.misconfigured` if the stream doesn't exist.
    init(
        _ connection: NATSConnection, stream: String, mostPending: Int, patience: Int64,
        report: @escaping @Sendable (NATSFailure) -> Void
    ) async throws(FleetStoreError) {
        self.connection = connection
        try await connection.checkStream(stream)
        let nats = connection.connection
        context = try await connection.blocking(key: stream) { () throws(NATSFailure) in
            var options = jsOptions()
            try NATSFailure.check(jsOptions_Init(&options))
            options.Wait = NATSConnection.requestTime
            options.PublishAsync.MaxPending = Int64(mostPending)
            options.PublishAsync.StallWait = patience
            // libnats doesn't report its last call, which may be in progress while the context is destroyed. The small
            // object therefore stays in memory; a process opens one publisher.
            options.PublishAsync.ErrHandlerClosure = Unmanaged.passRetained(Failures(report)).toOpaque()
            options.PublishAsync.ErrHandler = { _, error, closure in
                guard let error = error?.pointee, let closure else { return }
                var failure = NATSFailure(error.Err, code: error.ErrCode)
                if let text = error.ErrText { failure.text = String(cString: text) }
                Unmanaged<Failures>.fromOpaque(closure).takeUnretainedValue().report(failure)
            }
            var context: OpaquePointer?
            let status = natsConnection_JetStream(&context, nats.pointer, &options)
            guard status == NATS_OK, let context else { throw NATSFailure(status) }
            return NATSHandle(pointer: context)
        }
    }

    deinit { connection.retire(context: context) }

    /// Sends a message. It blocks while the largest number of messages waits for acknowledgement.
    ///
    /// - Parameter id: the identifier by which the server detects and drops duplicates; nil for none.
    func send(_ bytes: [UInt8], to subject: String, id: String? = nil) throws(NATSFailure) {
        let status = hasSent.withLock { hasSent in
            var options = jsPubOptions()
            jsPubOptions_Init(&options)
            let status = (id ?? "").withCString { id in
                // An empty identifier means no identifier.
                options.MsgId = id
                return js_PublishAsync(context.pointer, subject, bytes, Int32(bytes.count), &options)
            }
            if status == NATS_OK { hasSent = true }
            return status
        }
        try NATSFailure.check(status)
    }

    /// Waits until the server has acknowledged all messages. It blocks.
    ///
    /// - Parameter patience: the longest time to wait in milliseconds, from 1.
    func flush(within patience: Int64) throws(NATSFailure) {
        var wait = jsPubOptions()
        try NATSFailure.check(jsPubOptions_Init(&wait))
        wait.MaxWait = patience
        try NATSFailure.check(js_PublishAsyncComplete(context.pointer, &wait))
    }

    /// Discards the messages that aren't acknowledged, and ignores later acknowledgements of them.
    func forget() {
        hasSent.withLock { hasSent in
            // Before the first message, libnats has no list, but would read it.
            guard hasSent else { return }
            var pending = natsMsgList()
            if js_PublishAsyncGetPendingList(&pending, context.pointer) == NATS_OK { natsMsgList_Destroy(&pending) }
        }
    }
}
