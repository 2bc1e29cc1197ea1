import IndoorVocabulary

/// A state machine that schedules its own wake-ups.
package protocol TimedMachine: Sendable {
    /// An input of the machine.
    associatedtype Event: Sendable
    /// Work for the shell, or an output.
    associatedtype Directive: Hashable, Sendable

    /// The event of a wake-up.
    static var tick: Event { get }
    /// The instant of the next tick; nil if the machine waits for other events only.
    var nextWake: Instant? { get }
    /// Whether no session is running.
    var isOver: Bool { get }
    /// Handles an event and returns the directives for the shell.
    mutating func handle(_ event: Event, at now: Instant) -> [Directive]
    /// Moves all due instants to a timeline with another origin.
    mutating func shift(by duration: Duration)
}

/// A machine and its wake-ups on one timeline.
///
/// The driver delivers wake-ups that are due before a reading at their own instants, before that reading. Wake-ups that
/// are due at the reading's instant wait, because more readings may have the same instant. The same readings therefore
/// give the same outputs, however late they are delivered.
package struct SessionDriver<Machine: TimedMachine>: Sendable {
    /// A directive with its instant.
    package struct Step: Sendable {
        package var instant: Instant
        package var directive: Machine.Directive
    }

    package private(set) var machine: Machine
    /// The session's latest instant. Late readings are handled at this instant, so that time never decreases.
    private var latest: Instant?

    /// Creates a driver of a machine.
    package init(_ machine: Machine) { self.machine = machine }

    /// Passes an event to the machine.
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

    /// Moves the session's latest instant and all due instants to a timeline with another origin.
    package mutating func shift(by duration: Duration) {
        latest = latest?.advanced(by: duration)
        machine.shift(by: duration)
    }
}

/// The end of a session's readings, at which wake-ups that are due are delivered before the session ends.
///
/// These wake-ups may identify the venue or the floor before the last position. Their number is limited, because each
/// one can schedule the next at the same instant.
package struct SessionEnding: Sendable {
    /// One to find the venue, one to find the floor, and one for the last position.
    fileprivate static let limit = 3

    fileprivate let instant: Instant
    fileprivate var rounds = 0

    package init(at instant: Instant) { self.instant = instant }
}
