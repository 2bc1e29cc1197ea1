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
