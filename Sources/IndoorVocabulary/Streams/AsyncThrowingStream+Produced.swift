extension AsyncThrowingStream where Element: Sendable, Failure == any Error {
    /// A stream of the elements that `produce` yields, in a task of its own.
    ///
    /// The stream ends when `produce` returns, and with its error. The task is cancelled when nobody reads the stream any more.
    package static func produced(
        by produce: @escaping @Sendable (Continuation) async throws -> Void
    ) -> AsyncThrowingStream<Element, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    try await produce(continuation)
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
