import Glibc
import IndoorLocalization

/// A bound on a wait for something that a test expects to happen.
enum Patience {
    /// Far longer than anything takes, also on a busy machine and under a sanitizer.
    private static let seconds = 60

    static func wait<Value: Sendable>(
        for awaited: String, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                throw StageError("\(awaited): did not happen within \(seconds) s")
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw StageError(awaited) }
            return value
        }
    }
}
