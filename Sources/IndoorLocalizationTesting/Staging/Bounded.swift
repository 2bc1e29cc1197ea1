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
