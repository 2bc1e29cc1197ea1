import CNATS
import IndoorVocabulary
import TagTracking

extension NATSBucket {
    /// The current values of the bucket, and each later write.
    ///
    /// The stream reads a value when the caller asks for the next one. The server keeps the newest value of each key,
    /// so that a slow reader gets fewer values, but always the newest ones. If the connection breaks, the stream
    /// continues with the values that are current after the reconnection. It doesn't report that a value expires.
    func changes() -> AsyncStream<Entry> {
        let reader = ChangeReader(self)
        return AsyncStream { await reader.next() }
    }
}

/// The reader of the changes of a bucket. One task reads at a time.
private final class ChangeReader: Sendable {
    private struct State: Sendable {
        /// The consumer; nil if it must be created again.
        var subscription: OrderedSubscription?
        /// The connection's generation of the consumer.
        var generation = 0
        /// The revision of the last value of each key. The server may deliver values of different keys in another order
        /// than they were written.
        var revisions: [String: UInt64] = [:]
    }

    /// The time to wait for a value before checking whether the task is cancelled.
    private static let patience = Duration.milliseconds(200)
    /// The pause after a failure.
    private static let pause = Duration.milliseconds(100)

    private let bucket: NATSBucket
    private let state = Guarded(State())

    init(_ bucket: NATSBucket) { self.bucket = bucket }

    /// Returns the next value; nil if the task is cancelled.
    func next() async -> NATSBucket.Entry? {
        while !Task.isCancelled {
            let generation = bucket.connection.generation
            let known = state.withLock { $0.generation == generation ? $0.subscription : nil }
            do throws(FleetStoreError) {
                if let entry = try await read(known, generation) { return entry }
            } catch {
                state.withLock { $0.subscription = nil }
                try? await Task.sleep(for: Self.pause)
            }
        }
        return nil
    }

    /// Returns the next value; nil for none so far.
    private func read(
        _ known: OrderedSubscription?, _ generation: Int
    ) async throws(FleetStoreError) -> NATSBucket.Entry? {
        let bucket = bucket
        let (subscription, entry) = try await bucket.connection.blocking(key: "the bucket \(bucket.name)") {
            () throws(NATSFailure) -> (OrderedSubscription, NATSBucket.Entry?) in
            let subscription = if let known { known } else { try bucket.subscribe() }
            guard let message = try subscription.next(within: Self.patience) else { return (subscription, nil) }
            return (subscription, bucket.entry(message).entry)
        }
        return state.withLock { state in
            (state.subscription, state.generation) = (subscription, generation)
            // After an interruption, the server sends the values that are still current again.
            guard let entry, entry.revision > state.revisions[entry.key] ?? 0 else { return nil }
            state.revisions[entry.key] = entry.revision
            return entry
        }
    }
}
