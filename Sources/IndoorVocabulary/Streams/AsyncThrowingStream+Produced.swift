extension AsyncThrowingStream where Element: Sendable, Failure == any Error {
    /// Returns a stream of the elements that `produce` yields in a separate task.
    ///
    /// The stream ends when `produce` returns, and with its error. The task is cancelled when the consumer stops
    /// reading the stream.
    package static func produced(
        bufferingPolicy: Continuation.BufferingPolicy = .unbounded,
        by produce: @escaping @Sendable (Continuation) async throws -> Void
    ) -> AsyncThrowingStream<Element, any Error> {
        AsyncThrowingStream(bufferingPolicy: bufferingPolicy) { continuation in
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

    /// Returns a stream of the results of `transform` for each element of this stream.
    ///
    /// The new stream has no buffer and no task: it fetches an element of this stream when its consumer requests one.
    /// Unread elements remain in this stream, which counts its own losses.
    package func transformed<Output: Sendable>(
        _ transform: @escaping @Sendable (Element) -> [Output]
    ) -> AsyncThrowingStream<Output, any Error> {
        let waiting = Guarded<ArraySlice<Output>>([])
        return AsyncThrowingStream<Output, any Error> {
            while true {
                if let next = waiting.withLock({ $0.popFirst() }) { return next }
                // A new iterator continues where the last one stopped, because all iterators of a stream share its
                // elements.
                var iterator = makeAsyncIterator()
                guard let element = try await iterator.next() else { return nil }
                let outputs = transform(element)
                waiting.withLock { $0 = outputs[...] }
            }
        }
    }
}
