/// Hands each element to every subscriber, through a stream of its own.
package final class Broadcast<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var continuations: [UInt64: AsyncStream<Element>.Continuation] = [:]
        var nextKey: UInt64 = 0
        var latest: Element?
        var dropped = 0
    }

    private let state = Guarded(State())
    private let policy: AsyncStream<Element>.Continuation.BufferingPolicy
    private let replaysLatest: Bool

    /// Creates a broadcast without subscribers.
    ///
    /// - Parameters:
    ///   - policy: how many elements wait for a slow subscriber.
    ///   - replaysLatest: whether a new subscriber first gets the latest element.
    package init(_ policy: AsyncStream<Element>.Continuation.BufferingPolicy, replaysLatest: Bool = false) {
        self.policy = policy
        self.replaysLatest = replaysLatest
    }

    /// Creates a broadcast of what comes of a source: of a live one's, the newest elements wait for a slow subscriber.
    ///
    /// A recording plays faster than any subscriber may listen, and nothing of it is to be lost.
    package convenience init(of pace: ScanPace, newest: Int = 1024) {
        self.init(pace == .recorded ? .unbounded : .bufferingNewest(newest))
    }

    deinit {
        // Nothing can come any more: let the subscribers' loops end.
        state.withLock { state in state.continuations.values.forEach { $0.finish() } }
    }

    /// How many elements slow subscribers have lost.
    package var dropped: Int { state.withLock { $0.dropped } }

    /// A new subscription: all elements from now on, after the latest one if that is replayed.
    package func subscribe() -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
        let key = state.withLock { state in
            state.nextKey += 1
            state.continuations[state.nextKey] = continuation
            if replaysLatest, let latest = state.latest { continuation.yield(latest) }
            return state.nextKey
        }
        // Not at once: a task that is cancelled is locked meanwhile, and whoever sends to it just now holds the state's lock and
        // waits for the task's.
        continuation.onTermination = { [weak self] _ in Task { self?.leave(key) } }
        return stream
    }

    private func leave(_ key: UInt64) { state.withLock { $0.continuations[key] = nil } }

    /// Ends the streams of all subscribers so far.
    package func finish() {
        let ended = state.withLock { state in
            defer { state.continuations = [:] }
            return state.continuations
        }
        for continuation in ended.values { continuation.finish() }
    }

    /// Hands an element to every subscriber.
    package func send(_ element: Element) {
        state.withLock { state in
            if replaysLatest { state.latest = element }
            for continuation in state.continuations.values {
                if case .dropped = continuation.yield(element) { state.dropped += 1 }
            }
        }
    }
}
