import IndoorVocabulary

/// The permission to work on a leased part, which expires unless the lease is renewed.
package final class LeaseGate: Sendable {
    private struct State: Sendable {
        var validUntil: Instant
        var isHandedOver = false
    }

    private let clock: SessionClock
    private let state: Guarded<State>

    /// Creates a gate that is open until an instant of the clock.
    package init(_ clock: SessionClock, validUntil: Instant) {
        self.clock = clock
        state = Guarded(State(validUntil: validUntil))
    }

    /// The time of the clock by which the gate closes.
    package var now: Instant { Instant.zero.advanced(by: clock.elapsed()) }

    /// Whether outputs may be emitted now.
    package var isOpen: Bool {
        let now = now
        return state.withLock { $0.validUntil > now }
    }

    /// Whether the work should continue: the gate is open, and the lease isn't handed over.
    package var isWanted: Bool {
        let now = now
        return state.withLock { $0.validUntil > now && !$0.isHandedOver }
    }

    func extend(until instant: Instant) { state.withLock { $0.validUntil = max($0.validUntil, instant) } }

    /// Requests the end of the work. The work may store its state first.
    package func handOver() { state.withLock { $0.isHandedOver = true } }

    /// Closes the gate permanently.
    func close() {
        state.withLock { state in
            state.validUntil = Instant(nanoseconds: .min)
            state.isHandedOver = true
        }
    }
}
