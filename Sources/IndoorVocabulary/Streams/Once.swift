/// A shared value that is computed once, at the first access.
///
/// Concurrent accesses wait for the computation. The computation must not access the value itself.
package final class Once<Value: Sendable>: Sendable {
    private let state = Guarded<Value?>(nil)
    private let make: @Sendable () -> Value

    package init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    /// Whether the value has been computed.
    package var isMade: Bool { state.withLock { $0 != nil } }

    /// The value.
    package var value: Value {
        state.withLock { known in
            if let known { return known }
            let value = make()
            known = value
            return value
        }
    }
}
