/// A machine and its wake-ups on one timeline.
///
/// Wake-ups that are due before a reading are delivered before it, at their own instants; those due at the reading's
/// instant wait, because more may have been sensed at that instant. So the same readings give the same outputs
/// however late they are delivered.
package struct SessionDriver<Belief: PositioningBelief>: Sendable {
    /// A directive and when it was given.
    package struct Step: Sendable {
        package var instant: Instant
        package var directive: LocalizationMachine<Belief>.Directive
    }

    package private(set) var machine: LocalizationMachine<Belief>
    /// The session's latest instant: what is delivered late happens now, so that time never runs backwards.
    private var latest: Instant?

    /// Creates a driver of a machine.
    package init(_ machine: LocalizationMachine<Belief>) { self.machine = machine }

    /// Hands an event to the machine.
    package mutating func handle(_ event: LocalizationMachine<Belief>.Event, at instant: Instant) -> [Step] {
        if machine.state.isOver { latest = nil }  // the next session has a time of its own
        let now = max(latest ?? instant, instant)
        latest = now
        return machine.handle(event, at: now).map { Step(instant: now, directive: $0) }
    }

    /// Delivers the next wake-up if it is due before `instant`; nil if none is.
    package mutating func wake(before instant: Instant) -> [Step]? {
        guard let wake = machine.nextWake, wake < instant else { return nil }
        return handle(.tick, at: wake)
    }

    /// Delivers the next wake-up if it is due at or before `instant`; nil if none is.
    package mutating func wake(upTo instant: Instant) -> [Step]? {
        guard let wake = machine.nextWake, wake <= instant else { return nil }
        return handle(.tick, at: wake)
    }

    /// Moves the session's present and all that is due onto a timeline that begins elsewhere.
    package mutating func shift(by duration: Duration) {
        latest = latest?.advanced(by: duration)
        machine.shift(by: duration)
    }
}
