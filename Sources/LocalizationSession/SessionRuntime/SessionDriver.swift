import IndoorVocabulary

/// A machine that wants to be woken at instants of its own.
package protocol TimedMachine: Sendable {
    /// What happens to it.
    associatedtype Event: Sendable
    /// What its shell has to do.
    associatedtype Directive: Hashable, Sendable

    /// The event of a wake-up.
    static var tick: Event { get }
    /// When it wants a tick; nil if it waits for other events alone.
    var nextWake: Instant? { get }
    /// Whether no session is on.
    var isOver: Bool { get }
    /// Takes in an event; returns what is to be done.
    mutating func handle(_ event: Event, at now: Instant) -> [Directive]
    /// Moves all that is due onto a timeline that begins elsewhere.
    mutating func shift(by duration: Duration)
}

/// A machine and its wake-ups on one timeline.
///
/// Wake-ups that are due before a reading are delivered before it, at their own instants; those due at the reading's
/// instant wait, because more may have been sensed at that instant. So the same readings give the same outputs
/// however late they are delivered.
package struct SessionDriver<Machine: TimedMachine>: Sendable {
    /// A directive and when it was given.
    package struct Step: Sendable {
        package var instant: Instant
        package var directive: Machine.Directive
    }

    package private(set) var machine: Machine
    /// The session's latest instant: what is delivered late happens now, so that time never runs backwards.
    private var latest: Instant?

    /// Creates a driver of a machine.
    package init(_ machine: Machine) { self.machine = machine }

    /// Hands an event to the machine.
    package mutating func handle(_ event: Machine.Event, at instant: Instant) -> [Step] {
        if machine.isOver { latest = nil }  // the next session has a time of its own
        let now = max(latest ?? instant, instant)
        latest = now
        return machine.handle(event, at: now).map { Step(instant: now, directive: $0) }
    }

    /// Delivers the next wake-up if it is due before `instant`; nil if none is.
    package mutating func wake(before instant: Instant) -> [Step]? {
        guard let wake = machine.nextWake, wake < instant else { return nil }
        return handle(Machine.tick, at: wake)
    }

    /// Delivers the next wake-up if it is due at or before `instant`; nil if none is.
    package mutating func wake(upTo instant: Instant) -> [Step]? {
        guard let wake = machine.nextWake, wake <= instant else { return nil }
        return handle(Machine.tick, at: wake)
    }

    /// Delivers the next wake-up that is due at the end of the readings; nil if none is, or after the last one.
    package mutating func wake(for ending: inout SessionEnding) -> [Step]? {
        guard ending.rounds < SessionEnding.limit, let steps = wake(upTo: ending.instant) else { return nil }
        ending.rounds += 1
        return steps
    }

    /// Moves the session's present and all that is due onto a timeline that begins elsewhere.
    package mutating func shift(by duration: Duration) {
        latest = latest?.advanced(by: duration)
        machine.shift(by: duration)
    }
}

/// The end of a session's readings, at which wake-ups that are due are delivered before the session ends.
///
/// They may find the venue or the floor, and the last position comes after them. Their number is limited, as each may
/// set the next one to the same instant.
package struct SessionEnding: Sendable {
    /// One to find the venue, one to find the floor, and one for the last position.
    fileprivate static let limit = 3

    fileprivate let instant: Instant
    fileprivate var rounds = 0

    package init(at instant: Instant) { self.instant = instant }
}
