import Synchronization

/// A running `watch`; it ends with `close()`, or when this object goes away.
public final class Observation: Sendable {
    private let task: Task<Void, Never>
    private let isOpen: IsOpen

    /// A flag that the watching task and its observation share.
    private final class IsOpen: Sendable {
        let value = Atomic(true)
    }

    /// Begins to call `body` with each element.
    init<Element: Sendable>(_ stream: AsyncStream<Element>, _ body: @escaping @Sendable (Element) -> Void) {
        let isOpen = IsOpen()
        self.isOpen = isOpen
        task = Task {
            for await element in stream {
                guard isOpen.value.load(ordering: .acquiring) else { return }
                body(element)
            }
        }
    }

    deinit { close() }

    /// Ends the watch: no call begins after this one has returned.
    public func close() {
        isOpen.value.store(false, ordering: .releasing)
        task.cancel()
    }
}
