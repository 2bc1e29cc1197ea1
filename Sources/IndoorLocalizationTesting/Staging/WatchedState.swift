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

/// A time limit for waits on events that a test expects.
package enum Bounded {
    /// The error for an event that did not occur within the limit.
    package struct Expired: Error, CustomStringConvertible {
        /// The expected event.
        package let awaited: String

        package init(awaited: String) { self.awaited = awaited }

        package var description: String { "\(awaited): did not occur within the limit" }
    }

    /// A limit far longer than any expected wait, even on a busy machine and under a sanitizer.
    package static let longest = Duration.seconds(180)

    /// Waits for an event; throws `Expired` at the limit instead of waiting forever.
    package static func wait<Value: Sendable>(
        for awaited: String, within bound: Duration = longest,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                try await Task.sleep(for: bound)
                throw Expired(awaited: "\(awaited) within \(bound)")
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw Expired(awaited: awaited) }
            return value
        }
    }

    /// Waits until a condition holds whose changes can't be awaited.
    package static func poll(
        for awaited: String, within bound: Duration = longest,
        until condition: @escaping @Sendable () async throws -> Bool
    ) async throws {
        try await wait(for: awaited, within: bound) {
            while try await !condition() {
                // Without this check, the poll would continue after the limit.
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    /// Returns the elements of a stream up to the first one that satisfies a condition.
    package static func elements<Element: Sendable>(
        of stream: AsyncStream<Element>, until awaited: String,
        _ condition: @escaping @Sendable (Element) -> Bool
    ) async throws -> [Element] {
        try await wait(for: awaited) {
            var elements: [Element] = []
            for await element in stream {
                elements.append(element)
                if condition(element) { return elements }
            }
            throw Expired(awaited: "\(awaited) (the stream ended after \(elements))")
        }
    }

    /// Returns the given number of elements of a stream.
    package static func first<Element: Sendable>(
        _ count: Int, of stream: AsyncStream<Element>
    ) async throws -> [Element] {
        try await wait(for: "\(count) elements") {
            var elements: [Element] = []
            for await element in stream {
                elements.append(element)
                if elements.count == count { return elements }
            }
            throw Expired(awaited: "\(count) elements (the stream ended after \(elements))")
        }
    }

    /// Returns all elements of a stream when it ends.
    package static func all<Element: Sendable>(_ stream: AsyncStream<Element>) async throws -> [Element] {
        try await wait(for: "the end of a stream") {
            var elements: [Element] = []
            for await element in stream { elements.append(element) }
            return elements
        }
    }
}
