import Synchronization

/// A broadcaster that delivers each element to every subscriber, each through a separate stream.
package final class Broadcast<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var continuations: [UInt64: AsyncStream<Element>.Continuation] = [:]
        var nextKey: UInt64 = 0
        var latest: Element?
        var dropped = 0
    }

    private let state = Guarded(State())
    /// The subscriptions that have ended since the last cleanup.
    ///
    /// A separate lock prevents a deadlock. When a task is cancelled, it ends its stream while it holds a lock that
    /// `send` waits for. With a single lock, each would wait for the other.
    private let ended = Guarded(Set<UInt64>())
    private let policy: AsyncStream<Element>.Continuation.BufferingPolicy
    private let replaysLatest: Bool
    private let keepsLatest: Bool

    /// Creates a broadcast without subscribers.
    ///
    /// - Parameters:
    ///   - policy: The number of elements to buffer for a slow subscriber.
    ///   - replaysLatest: Whether a new subscriber first receives the latest element.
    ///   - keepsLatest: Whether the broadcast stores the latest element, so that callers can read it or subscribe
    ///     beginning with it.
    package init(
        _ policy: AsyncStream<Element>.Continuation.BufferingPolicy, replaysLatest: Bool = false,
        keepsLatest: Bool = false
    ) {
        self.policy = policy
        self.replaysLatest = replaysLatest
        self.keepsLatest = keepsLatest || replaysLatest
    }

    /// Creates a broadcast for a source of the given pace. For a live source, it buffers the newest elements.
    ///
    /// For a recording, it buffers all elements, because a recording can play faster than a subscriber reads and no
    /// element may be lost.
    package convenience init(
        of pace: ScanPace, newest: Int = 1024, replaysLatest: Bool = false, keepsLatest: Bool = false
    ) {
        self.init(
            pace == .recorded ? .unbounded : .bufferingNewest(newest), replaysLatest: replaysLatest,
            keepsLatest: keepsLatest)
    }

    deinit {
        // End the subscribers' loops, because no more elements can follow.
        state.withLock { state in state.continuations.values.forEach { $0.finish() } }
    }

    /// The number of elements that slow subscribers have lost.
    package var dropped: Int { state.withLock { $0.dropped } }

    /// Whether a subscriber's stream hasn't ended.
    package var hasSubscribers: Bool {
        state.withLock { state in
            for key in drainEnded() { state.continuations[key] = nil }
            return !state.continuations.isEmpty
        }
    }

    /// The latest element, if stored; nil before the first element and after `forget()`.
    package var latest: Element? { state.withLock { $0.latest } }

    /// Discards the latest element.
    package func forget() { state.withLock { $0.latest = nil } }

    /// Returns a stream of all elements from now on, preceded by the latest one if the broadcast replays it.
    package func subscribe() -> AsyncStream<Element> { subscribe(beginningWithLatest: replaysLatest) }

    /// Returns a stream of all elements from now on.
    ///
    /// - Parameter beginsWithLatest: Whether the stream begins with the latest element, if stored.
    package func subscribe(beginningWithLatest beginsWithLatest: Bool) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
        let key = state.withLock { state in
            // Clean up here, too: many subscriptions can begin and end while the broadcast sends nothing.
            for key in drainEnded() { state.continuations[key] = nil }
            state.nextKey += 1
            state.continuations[state.nextKey] = continuation
            if beginsWithLatest, let latest = state.latest { continuation.yield(latest) }
            return state.nextKey
        }
        continuation.onTermination = { [weak self] _ in self?.ended.withLock { _ = $0.insert(key) } }
        return stream
    }

    /// Ends the streams of all current subscribers.
    package func finish() {
        let ended = state.withLock { state in
            defer { state.continuations = [:] }
            return state.continuations
        }
        for continuation in ended.values { continuation.finish() }
    }

    /// Delivers an element to every subscriber.
    package func send(_ element: Element) {
        state.withLock { state in
            for key in drainEnded() { state.continuations[key] = nil }
            if keepsLatest { state.latest = element }
            for continuation in state.continuations.values {
                if case .dropped = continuation.yield(element) { state.dropped += 1 }
            }
        }
    }

    /// Returns the subscriptions that have ended since the last call.
    private func drainEnded() -> Set<UInt64> {
        ended.withLock { keys in
            defer { keys = [] }
            return keys
        }
    }
}

/// A subscription from `watch`. It ends when you call `close()` or when the last reference to it is released.
public final class Subscription: Sendable {
    /// The state shared by the subscription and its task.
    private final class Gate: Sendable {
        let isOpen = Atomic(true)
        /// A lock that is held during each call, so that `close()` can wait for the end of the call.
        let call = Guarded(true)

        /// The gate of the current task's subscription. A call to `close()` from within its own callback must not wait.
        @TaskLocal static var served: ObjectIdentifier?
    }

    private let task: Task<Void, Never>
    private let gate: Gate

    /// Creates a subscription that calls `body` with each element.
    package init<Element: Sendable>(_ stream: AsyncStream<Element>, _ body: @escaping @Sendable (Element) -> Void) {
        let gate = Gate()
        self.gate = gate
        task = Task {
            await Gate.$served.withValue(ObjectIdentifier(gate)) {
                for await element in stream {
                    let isOpen = gate.call.withLock { _ in
                        guard gate.isOpen.load(ordering: .acquiring) else { return false }
                        body(element)
                        return true
                    }
                    guard isOpen else { return }
                }
            }
        }
    }

    deinit { close() }

    /// Ends the subscription. After this method returns, no call begins or continues.
    ///
    /// The method waits for a call that is running on another thread, so that call must not wait for the closing
    /// thread. From within a call, the method returns immediately, and that call is the last one.
    public func close() {
        gate.isOpen.store(false, ordering: .releasing)
        task.cancel()
        if Gate.served != ObjectIdentifier(gate) { gate.call.withLock { _ in } }
    }
}

/// An object that emits streams; each access to a stream property creates a separate stream.
public protocol StreamSource: AnyObject, Sendable {}

extension StreamSource {
    /// Calls `body` with each element of a stream, for callers without a task.
    ///
    ///     let subscription = localizer.watch(\.positions) { print($0) }
    ///     …
    ///     subscription.close()
    ///
    /// A task of the subscription makes the calls, in the order of the stream.
    /// - Returns: the subscription. The calls end when you call `close()`, or when the last reference to it is released.
    public nonisolated func watch<Element: Sendable>(
        _ stream: KeyPath<Self, AsyncStream<Element>>, _ body: @escaping @Sendable (Element) -> Void
    ) -> Subscription {
        Subscription(self[keyPath: stream], body)
    }
}
