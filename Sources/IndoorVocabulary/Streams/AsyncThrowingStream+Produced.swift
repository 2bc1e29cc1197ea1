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

    /// Returns a stream of what `transform` makes of each element of this stream.
    ///
    /// It has no buffer and no task: it fetches an element of this stream when its own reader wants one. What the reader
    /// doesn't fetch waits in this stream, which counts its losses itself.
    package func transformed<Output: Sendable>(
        _ transform: @escaping @Sendable (Element) -> [Output]
    ) -> AsyncThrowingStream<Output, any Error> {
        let waiting = Guarded<ArraySlice<Output>>([])
        return AsyncThrowingStream<Output, any Error> {
            while true {
                if let next = waiting.withLock({ $0.popFirst() }) { return next }
                // All iterators of a stream share its elements.
                var iterator = makeAsyncIterator()
                guard let element = try await iterator.next() else { return nil }
                let outputs = transform(element)
                waiting.withLock { $0 = outputs[...] }
            }
        }
    }
}
