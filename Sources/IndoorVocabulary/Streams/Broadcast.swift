/// Hands each element to every subscriber, through a stream of its own.
package final class Broadcast<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var continuations: [UInt64: AsyncStream<Element>.Continuation] = [:]
        var nextKey: UInt64 = 0
        var latest: Element?
        var dropped = 0
    }

    private let state = Guarded(State())
    /// Subscriptions that have ended, until the next element is sent.
    ///
    /// Behind a lock of its own: a task that is cancelled ends its stream while it holds a lock that an element which is
    /// sent to that task waits for. Waiting here for the end of a `send` would then last for ever.
    private let ended = Guarded(Set<UInt64>())
    private let policy: AsyncStream<Element>.Continuation.BufferingPolicy
    private let replaysLatest: Bool
    private let keepsLatest: Bool

    /// Creates a broadcast without subscribers.
    ///
    /// - Parameters:
    ///   - policy: how many elements wait for a slow subscriber.
    ///   - replaysLatest: whether a new subscriber first gets the latest element.
    ///   - keepsLatest: whether the latest element can be read, and got first by a subscriber who wants it.
    package init(
        _ policy: AsyncStream<Element>.Continuation.BufferingPolicy, replaysLatest: Bool = false,
        keepsLatest: Bool = false
    ) {
        self.policy = policy
        self.replaysLatest = replaysLatest
        self.keepsLatest = keepsLatest || replaysLatest
    }

    /// Creates a broadcast of what comes of a source: of a live one's, the newest elements wait for a slow subscriber.
    ///
    /// A recording plays faster than any subscriber may listen, and nothing of it is to be lost.
    package convenience init(of pace: ScanPace, newest: Int = 1024, keepsLatest: Bool = false) {
        self.init(pace == .recorded ? .unbounded : .bufferingNewest(newest), keepsLatest: keepsLatest)
    }

    deinit {
        // Nothing can come any more: let the subscribers' loops end.
        state.withLock { state in state.continuations.values.forEach { $0.finish() } }
    }

    /// How many elements slow subscribers have lost.
    package var dropped: Int { state.withLock { $0.dropped } }

    /// The latest element, if it is kept; nil before the first, and after `forget()`.
    package var latest: Element? { state.withLock { $0.latest } }

    /// Forgets the latest element.
    package func forget() { state.withLock { $0.latest = nil } }

    /// A new subscription: all elements from now on, after the latest one if that is replayed.
    package func subscribe() -> AsyncStream<Element> { subscribe(beginningWithLatest: replaysLatest) }

    /// A new subscription: all elements from now on.
    ///
    /// - Parameter beginsWithLatest: whether they come after the latest one, if that is kept.
    package func subscribe(beginningWithLatest beginsWithLatest: Bool) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
        let key = state.withLock { state in
            // Of a broadcast that has nothing to tell, subscriptions may come and go for long.
            for key in drainEnded() { state.continuations[key] = nil }
            state.nextKey += 1
            state.continuations[state.nextKey] = continuation
            if beginsWithLatest, let latest = state.latest { continuation.yield(latest) }
            return state.nextKey
        }
        continuation.onTermination = { [weak self] _ in self?.ended.withLock { _ = $0.insert(key) } }
        return stream
    }

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
            for key in drainEnded() { state.continuations[key] = nil }
            if keepsLatest { state.latest = element }
            for continuation in state.continuations.values {
                if case .dropped = continuation.yield(element) { state.dropped += 1 }
            }
        }
    }

    /// The subscriptions that have ended since this was asked last.
    private func drainEnded() -> Set<UInt64> {
        ended.withLock { keys in
            defer { keys = [] }
            return keys
        }
    }
}
