import IndoorLocalizationTesting

extension Bounded {
    /// Longer than anything takes in the guest, which is emulated, and short enough that one failure leaves time for
    /// the other tests.
    static let longestInGuest = Duration.seconds(20)

    /// Awaits an event in the guest; throws `Expired` instead of waiting for ever.
    static func waitInGuest<Value: Sendable>(
        for awaited: String, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await wait(for: awaited, within: longestInGuest, operation)
    }
}
