import IndoorLocalization

/// A value that several threads change, and whose changes can be awaited.
package final class WatchedState<Value: Sendable>: Sendable {
    private struct Waiter: Sendable {
        var condition: @Sendable (Value) -> Bool
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct Content: Sendable {
        var value: Value
        var waiters: [UInt64: Waiter] = [:]
        /// The waits that were cancelled before they began.
        var cancelled: Set<UInt64> = []
        var nextKey: UInt64 = 0
    }

    private let content: Guarded<Content>

    package init(_ value: Value) { content = Guarded(Content(value: value)) }

    package var value: Value { content.withLock { $0.value } }

    /// Changes the value and resumes the waits whose condition now holds.
    package func update<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        let (result, woken) = content.withLock { content -> (Result, [Waiter]) in
            let result = change(&content.value)
            let keys = content.waiters.filter { $0.value.condition(content.value) }.keys.sorted()
            return (result, keys.compactMap { content.waiters.removeValue(forKey: $0) })
        }
        for waiter in woken { waiter.continuation.resume() }
        return result
    }

    /// Waits until the condition holds.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before that.
    package func wait(until condition: @escaping @Sendable (Value) -> Bool) async throws {
        let key = content.withLock { content in
            content.nextKey += 1
            return content.nextKey
        }
        defer { content.withLock { content in _ = content.cancelled.remove(key) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = content.withLock { content -> Result<Void, any Error>? in
                    if content.cancelled.contains(key) { return .failure(CancellationError()) }
                    if condition(content.value) { return .success(()) }
                    content.waiters[key] = Waiter(condition: condition, continuation: continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = content.withLock { content in
                content.cancelled.insert(key)
                return content.waiters.removeValue(forKey: key)
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }
}
