/// A value that is made when it is first asked for, once for all who share it.
///
/// Whoever asks at the same time waits for it. What makes it must not ask for it again.
package final class Once<Value: Sendable>: Sendable {
    private let state = Guarded<Value?>(nil)
    private let make: @Sendable () -> Value

    package init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    /// Whether it was made.
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
