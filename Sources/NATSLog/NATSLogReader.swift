import CNATS
import IndoorVocabulary
import TagTracking

/// A reader of a partition: an ordered consumer of the stream from a sequence.
///
/// The consumer is made anew after the last read entry when the connection was broken, when its order is interrupted,
/// and after a time without messages, because a server may have lost it.
final class NATSLogReader: ReadingLogReader {
    private struct State: Sendable {
        var sequence: UInt64
        var subscription: NATSHandle?
        /// The connection's generation of the subscription; -1 if the consumer must be made anew.
        var generation = 0
        var heardAt = ContinuousClock.now
    }

    /// The time without messages after which the consumer is made anew.
    private static let silence = Duration.seconds(5)

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

    deinit {
        // libnats has removed the consumer's interest with the subscription; the server deletes it.
        if let subscription = state.withLock(\.subscription) { natsSubscription_Destroy(subscription.pointer) }
    }

    /// Makes the consumer, or makes it anew.
    func subscribe() async throws(FleetStoreError) {
        await close()
        let generation = connection.generation
        let (context, sequence, partition) = (connection.context, state.withLock(\.sequence), partition)
        let subscription = try await connection.blocking(key: FleetNames.stream) { () throws(NATSFailure) in
            let subscription = try OrderedSubscription.make(
                context, stream: FleetNames.stream, subject: FleetNames.subjects(ofPartition: partition)
            ) { config in
                config.DeliverPolicy = js_DeliverByStartSequence
                config.OptStartSeq = sequence + 1
            }
            return NATSHandle(pointer: subscription)
        }
        state.withLock { state in
            state.subscription = subscription
            state.generation = generation
            state.heardAt = .now
        }
    }

    func next(atMost count: Int, within patience: Duration) async throws(FleetStoreError) -> LogBatch {
        guard connection.isConnected else {
            throw .unavailable(reason: "\(FleetNames.stream): the connection is broken")
        }
        let (generation, heardAt) = state.withLock { ($0.generation, $0.heardAt) }
        if generation != connection.generation || heardAt.duration(to: .now) > Self.silence { try await subscribe() }
        guard let subscription = state.withLock(\.subscription) else {
            try await subscribe()
            return LogBatch()
        }
        var batch = try await drain(subscription, atMost: count)
        if batch.entries.isEmpty, batch.damaged == 0 {
            await pulse.wait(for: subscription, within: patience)
            batch = try await drain(subscription, atMost: count)
        }
        return batch
    }

    /// Returns the messages that have arrived. It doesn't block.
    private func drain(_ subscription: NATSHandle, atMost count: Int) async throws(FleetStoreError) -> LogBatch {
        var batch = LogBatch()
        while batch.entries.count < count {
            var message: OpaquePointer?
            let status = natsSubscription_NextMsg(&message, subscription.pointer, 0)
            guard status == NATS_OK, let message else {
                // Anything but an empty queue interrupts the order, such as missed heartbeats of the server. The entries
                // so far are returned before: if the subscription failed, they would be lost.
                if status != NATS_TIMEOUT { state.withLock { $0.generation = -1 } }
                break
            }
            defer { natsMsg_Destroy(message) }
            var data: UnsafeMutablePointer<jsMsgMetaData>?
            guard natsMsg_GetMetaData(&data, message) == NATS_OK, let data else { continue }
            defer { jsMsgMetaData_Destroy(data) }
            let sequence = data.pointee.Sequence.Stream
            let bytes = OrderedSubscription.bytes(of: message)
            if let reading = try? TagReading(decoding: bytes) {
                let storedAt = Instant(nanoseconds: data.pointee.Timestamp)
                batch.entries.append(LogEntry(sequence: sequence, storedAt: storedAt, reading: reading))
            } else {
                batch.damaged += 1
            }
            batch.pending = data.pointee.NumPending
            state.withLock { state in
                state.sequence = max(state.sequence, sequence)
                state.heardAt = .now
            }
        }
        return batch
    }

    func close() async {
        let subscription = state.withLock { state in
            defer { state.subscription = nil }
            return state.subscription
        }
        guard let subscription else { return }
        _ = try? await connection.blocking(key: FleetNames.stream) { () throws(NATSFailure) in
            // `natsSubscription_Unsubscribe` would delete the consumer at once. But libnats 3.4 then reads the consumer's
            // name without its lock, while its own thread may free the name to make the consumer anew. The server deletes
            // a consumer without interest after five seconds.
            natsSubscription_Destroy(subscription.pointer)
        }
    }
}
