/// An object with streams of what it tells, each call of which gives a stream of its own.
public protocol StreamSource: AnyObject, Sendable {}

extension StreamSource {
    /// Calls `body` with each element of a stream, for callers without a task of their own.
    ///
    ///     let subscription = localizer.watch(\.positions) { print($0) }
    ///     …
    ///     subscription.close()
    ///
    /// The calls come in the stream's order, from a task of their own.
    /// - Returns: the subscription. Keep it for as long as calls are wanted: they end with it, and with `close()`.
    public nonisolated func watch<Element: Sendable>(
        _ stream: KeyPath<Self, AsyncStream<Element>>, _ body: @escaping @Sendable (Element) -> Void
    ) -> Subscription {
        Subscription(self[keyPath: stream], body)
    }
}
