import Synchronization

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
