/// A bound on a wait for something that a test expects to happen.
package enum Bounded {
    /// It did not happen.
    package struct Expired: Error, CustomStringConvertible {
        /// What was waited for.
        package let awaited: String

        package init(awaited: String) { self.awaited = awaited }

        package var description: String { "\(awaited): did not happen in time" }
    }

    /// Far longer than anything takes, also on a busy machine and under a sanitizer.
    package static let longest = Duration.seconds(60)

    /// Awaits an event; throws `Expired` instead of waiting for ever.
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

    /// The elements of a stream up to the first one that satisfies a condition.
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

    /// So many elements of a stream.
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

    /// All elements of a stream until it ends.
    package static func all<Element: Sendable>(_ stream: AsyncStream<Element>) async throws -> [Element] {
        try await wait(for: "the end of a stream") {
            var elements: [Element] = []
            for await element in stream { elements.append(element) }
            return elements
        }
    }
}
