import Synchronization

/// A value behind a lock.
///
/// A `Mutex` with synchronization that the thread sanitizer detects. On Linux, a waiting thread acquires the lock from
/// the kernel, which the sanitizer doesn't track, so it reports races in correct programs (Swift 6.3). The atomic
/// counter makes the synchronization visible.
package struct Guarded<Value: Sendable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    private let handovers = Atomic<UInt>(0)

    package init(_ value: Value) { mutex = Mutex(value) }

    /// Calls `body` with exclusive access to the value. Don't call this method from within `body`.
    package borrowing func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        mutex.withLock { value in
            _ = handovers.load(ordering: .acquiring)
            defer { handovers.wrappingAdd(1, ordering: .releasing) }
            return body(&value)
        }
    }
}

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
