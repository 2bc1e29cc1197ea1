import IndoorLocalizationTesting

extension Bounded {
    /// The time limit of a wait in the emulated guest: longer than any step takes, and short enough that the other
    /// tests still run after a failure.
    static let longestInGuest = Duration.seconds(20)

    /// Waits for an event in the guest. Throws `Expired` after the time limit.
    static func waitInGuest<Value: Sendable>(
        for awaited: String, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await wait(for: awaited, within: longestInGuest, operation)
    }
}
