import CNATS
import IndoorVocabulary
import TagTracking

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
