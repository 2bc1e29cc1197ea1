/// A bound on a wait for something that a test in the guest expects to happen.
enum Bound {
    struct Expired: Error, CustomStringConvertible {
        var awaited: String
        var description: String { "\(awaited): did not happen in time" }
    }

    /// Longer than anything takes in the guest, which is emulated, and short enough that one failure leaves time for
    /// the other tests.
    static let seconds = 20.0

    /// Awaits an event; throws `Expired` instead of waiting for ever.
    static func wait<Value: Sendable>(
        for awaited: String, seconds: Double = seconds, _ operation: @escaping @Sendable () async throws -> Value
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
}
