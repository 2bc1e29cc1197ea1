import XCTest

/// A bound on a wait for something that a test expects to happen.
enum Bounded {
    struct Expired: Error, CustomStringConvertible {
        var awaited: String
        var description: String { "\(awaited): did not happen within \(Bounded.seconds) s" }
    }

    /// Far longer than anything takes, also on a busy machine and under a sanitizer.
    static let seconds = 60

    /// Awaits an event; throws `Expired` instead of waiting for ever.
    static func wait<Value: Sendable>(
        for awaited: String, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                throw Expired(awaited: awaited)
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw Expired(awaited: awaited) }
            return value
        }
    }

    /// The elements of a stream up to the first one that satisfies a condition.
    static func elements<Element: Sendable>(
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
    static func first<Element: Sendable>(_ count: Int, of stream: AsyncStream<Element>) async throws -> [Element] {
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
    static func all<Element: Sendable>(_ stream: AsyncStream<Element>) async throws -> [Element] {
        try await wait(for: "the end of a stream") {
            var elements: [Element] = []
            for await element in stream { elements.append(element) }
            return elements
        }
    }
}
