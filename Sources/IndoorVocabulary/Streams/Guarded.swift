import Synchronization

/// A value behind a lock.
///
/// A `Mutex` whose hand-overs the thread sanitizer sees too: on Linux a waiting thread gets the lock from the kernel, which
/// the sanitizer does not follow, so that it takes correct programs for racing ones (Swift 6.3). The counter tells it.
package struct Guarded<Value: Sendable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    private let handovers = Atomic<UInt>(0)

    package init(_ value: Value) { mutex = Mutex(value) }

    /// Reads or changes the value while nobody else does. Not to be called from within `body`.
    package borrowing func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        mutex.withLock { value in
            _ = handovers.load(ordering: .acquiring)
            defer { handovers.wrappingAdd(1, ordering: .releasing) }
            return body(&value)
        }
    }
}
