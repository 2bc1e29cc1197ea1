import IndoorVocabulary

/// The state machine of a duty cycle, which decides when a pass begins and ends.
///
/// With a tick at each `nextWake`, the machine follows the cycle exactly. A late tick delays the cycle; the next pause
/// has its full length. A changed cycle applies from the next boundary. An endless pass has no boundary; it ends one
/// `scanDuration` after the change.
package struct DutyCycleMachine: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case stopped
        /// The radio scans until an instant, or endlessly if that is nil.
        case scanning(until: Instant?)
        /// The radio rests; the next pass begins at an instant.
        case waiting(until: Instant)
    }

    package enum Event: Hashable, Sendable {
        case start
        case stop
        case tick
        case change(DutyCycle)
    }

    package enum Directive: Hashable, Sendable {
        case beginPass
        case endPass
    }

    /// The maximum number of boundaries that are handled at once; more are due only after a gap of years in a
    /// recording.
    package static let dueLimit = 100_000

    private struct Transition {
        var state: State
        var directives: [Directive] = []
    }

    package private(set) var state = State.stopped
    /// The cycle that applies from the next boundary.
    package private(set) var cycle: DutyCycle

    /// Creates a stopped machine. The cycle must have no `problems`.
    package init(_ cycle: DutyCycle) { self.cycle = cycle }

    /// Whether the radio scans.
    package var isScanning: Bool {
        if case .scanning = state { true } else { false }
    }

    /// When the machine needs a tick; nil if never.
    package var nextWake: Instant? {
        switch state {
        case .stopped: nil
        case .scanning(let end): end
        case .waiting(let end): end
        }
    }

    /// Handles an event; events must be ordered by instant.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        if case .change(let changed) = event { cycle = changed }
        let transition = Self.transition(from: state, on: event, cycle, at: now)
        state = transition.state
        return transition.directives
    }

    /// Handles all ticks up to an instant, each at its own instant. After a gap of years, the cycle continues after the
    /// gap.
    package mutating func catchUp(to now: Instant) -> [(instant: Instant, directive: Directive)] {
        var directives: [(instant: Instant, directive: Directive)] = []
        for _ in 0..<Self.dueLimit {
            guard let wake = nextWake, wake <= now else { return directives }
            directives += handle(.tick, at: wake).map { (wake, $0) }
        }
        if let wake = nextWake, wake <= now { shift(by: wake.duration(to: now)) }
        return directives
    }

    /// Shifts the due times onto another timeline.
    package mutating func shift(by duration: Duration) {
        switch state {
        case .stopped, .scanning(until: nil): break
        case .scanning(let end?): state = .scanning(until: end.advanced(by: duration))
        case .waiting(let end): state = .waiting(until: end.advanced(by: duration))
        }
    }

    private static func transition(
        from state: State, on event: Event, _ cycle: DutyCycle, at now: Instant
    ) -> Transition {
        switch (state, event) {
        case (.stopped, .start):
            return Transition(state: pass(cycle, at: now), directives: [.beginPass])
        case (.scanning, .stop):
            return Transition(state: .stopped, directives: [.endPass])
        case (.waiting, .stop):
            return Transition(state: .stopped)
        case (.scanning(let end?), .tick) where end <= now:
            guard !cycle.isContinuous else { return Transition(state: .scanning(until: nil)) }
            return Transition(state: .waiting(until: now.advanced(by: cycle.pause)), directives: [.endPass])
        case (.waiting(let end), .tick) where end <= now:
            return Transition(state: pass(cycle, at: now), directives: [.beginPass])
        case (.scanning(until: nil), .change):
            return Transition(state: pass(cycle, at: now))
        case (.stopped, .stop), (.stopped, .tick), (.stopped, .change),  // nothing runs
            (.scanning, .start), (.waiting, .start),  // it runs already
            (.scanning, .tick), (.waiting, .tick),  // too early
            (.scanning, .change), (.waiting, .change):  // from the next boundary on
            return Transition(state: state)
        }
    }

    private static func pass(_ cycle: DutyCycle, at now: Instant) -> State {
        .scanning(until: cycle.isContinuous ? nil : now.advanced(by: cycle.scanDuration))
    }
}
