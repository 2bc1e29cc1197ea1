import IndoorVocabulary

/// The alternation of scan passes and rests of a radio.
///
///     scan ████______________________________________████______________
///          10 s          90 s × intervalFactor       10 s
public struct DutyCycle: Hashable, Sendable {
    /// The duration of one pass, from 10 ms to a day.
    public var scanDuration = Duration.seconds(10)
    /// The rest between two passes, from 0 s to a day.
    public var interval = Duration.seconds(90)
    /// The factor of `interval`, in [0, 1000].
    public var intervalFactor = 1.0
    /// Whether the radio scans in a single pass, which ends with `stop()`; the other settings then have no effect.
    public var isContinuous = false

    /// Creates the cycle with its defaults: passes of 10 s in every 100 s.
    public init() {}

    /// Creates a cycle without checking it; see `problems`.
    public init(scanDuration: Duration, interval: Duration, intervalFactor: Double = 1) {
        self.scanDuration = scanDuration
        self.interval = interval
        self.intervalFactor = intervalFactor
    }

    /// A cycle with one endless pass.
    public static var continuous: DutyCycle {
        var cycle = DutyCycle()
        cycle.isContinuous = true
        return cycle
    }

    /// The share of the time in which the radio scans, in (0, 1].
    public var share: Double {
        isContinuous ? 1 : scanDuration.seconds / (scanDuration.seconds + interval.seconds * intervalFactor)
    }

    /// The values that are out of range; empty if all are valid.
    public var problems: [String] { Self.list.problems(in: self, prefix: "dutyCycle.") }

    /// The time between two passes of a valid cycle.
    var pause: Duration { interval * intervalFactor }
}

extension DutyCycle {
    /// The list of the settings of a duty cycle.
    package static let list: [Setting<DutyCycle>] = [
        .duration(
            "scanDuration", \.scanDuration, from: .milliseconds(10), better: .greater, "The duration of one pass."),
        .duration(
            "interval", \.interval, from: .zero, better: .smaller, "The rest between two passes."),
        .number(
            "intervalFactor", \.intervalFactor, in: 0...1000, better: .smaller,
            "The factor of `interval`."),
        .flag(
            "isContinuous", \.isContinuous, better: true,
            "Whether there is a single pass, which ends with `stop()`; the other settings then have no effect."),
    ]
}

/// The duty cycle of a radio, and its scan timing within a pass.
public struct ScanSchedule: Hashable, Sendable {
    /// The times of the passes.
    public var cycle: DutyCycle
    /// The scan timing within a pass; nil for the default of the source.
    public var timing: ScanTiming?

    /// Creates a schedule; the default is one endless pass.
    public init(cycle: DutyCycle = .continuous, timing: ScanTiming? = nil) {
        self.cycle = cycle
        self.timing = timing
    }

    /// The values that are out of range; empty if all are valid.
    public var problems: [String] { cycle.problems + (timing?.problems ?? []) }
}

/// A named combination of duty cycle and scan timing.
///
/// Configuration files use the numbers. A higher number doesn't necessarily save more power.
///
/// | mode | number | radio listens | passes | share of the time |
/// | --- | --- | --- | --- | --- |
/// | `none` | 0 | 60 of 60 ms | one, endless | 100 % |
/// | `aggressive` | 1 | 30 of 60 ms | one, endless | 50 % |
/// | `normal` | 2 | 60 of 60 ms | 10 s of every 30 s | 33 % |
/// | `eco` | 3 | 60 of 60 ms | 10 s of every 100 s | 10 % |
public enum PowerMode: Int, Hashable, Sendable, CaseIterable {
    /// The radio listens all the time. Use this mode for localization.
    case none = 0
    /// The radio listens half of the time, and still receives each beacon that sends several advertisements per second
    /// at least once per second.
    case aggressive = 1
    /// The radio rests for 20 s between passes of 10 s.
    case normal = 2
    /// The radio rests for 90 s between passes of 10 s: the default of `DutyCycle`.
    case eco = 3

    /// The scan timing within a pass.
    ///
    /// The Linux kernel scans 30 of every 60 ms to find known devices (`le_scan_window` and `le_scan_interval` in its
    /// net/bluetooth/hci_core.c). For the same power, a short pass without gaps receives more than a longer pass with
    /// gaps.
    public var timing: ScanTiming {
        switch self {
        case .none, .normal, .eco: .whole
        case .aggressive: .half
        }
    }

    /// The times of the passes.
    public var dutyCycle: DutyCycle {
        switch self {
        case .none, .aggressive: .continuous
        case .normal: DutyCycle(scanDuration: .seconds(10), interval: .seconds(20))
        case .eco: DutyCycle()
        }
    }
}

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

/// A timeline that advances only while a radio listens. Timeouts for silent beacons use it.
///
/// A radio that rests between two passes, or that is off, receives nothing from a beacon even if it is near. If the
/// radio listens all the time, this timeline equals the source's timeline.
package struct ListenedTime: Hashable, Sendable {
    /// The total time without listening, up to the latest time that the radio began to listen.
    private var missed = Duration.zero
    /// When the radio stopped listening; nil while it listens.
    package private(set) var deafSince: Instant?

    /// Creates the time of a radio that listens.
    package init() {}

    /// Creates the time of a radio that does not listen yet.
    package init(deafSince instant: Instant) { deafSince = instant }

    /// Whether the radio listens.
    package var isListening: Bool { deafSince == nil }

    /// Records that the radio stops listening; has no effect while it doesn't listen.
    package mutating func pause(at now: Instant) { deafSince = deafSince ?? now }

    /// Records that the radio listens again; has no effect while it listens.
    package mutating func resume(at now: Instant) {
        guard let since = deafSince else { return }
        missed += max(.zero, since.duration(to: now))
        deafSince = nil
    }

    /// Follows the timeline of another radio, but also advances while another sensor delivers readings; the latest one
    /// was at `sensed`.
    package mutating func follow(_ other: ListenedTime, sensed: Instant, to now: Instant) {
        guard let since = other.deafSince, sensed.duration(to: now) > Self.senseTimeout else { return resume(at: now) }
        pause(at: min(now, max(since, sensed.advanced(by: Self.senseTimeout))))
    }

    /// The time without readings after which a sensor counts as not delivering; accelerometers deliver many readings
    /// per second.
    private static let senseTimeout = Duration.seconds(1)

    /// Returns the instant on the timeline of listening at `now`.
    package func instant(at now: Instant) -> Instant {
        min(now, deafSince ?? now).advanced(by: .zero - missed)
    }

    /// Returns when the timeline of listening reaches an instant; nil while the radio doesn't listen.
    package func wake(at listened: Instant) -> Instant? {
        isListening ? listened.advanced(by: missed) : nil
    }

    /// Shifts the source's instants onto another timeline; the timeline of listening is unchanged.
    package mutating func shift(by duration: Duration) {
        deafSince = deafSince?.advanced(by: duration)
        missed += duration
    }
}

/// A filter that removes the readings of a recording that a radio with a duty cycle would miss, and inserts the status
/// changes at its rests.
///
/// The first reading begins the first pass. Other sensors don't rest.
package struct DutyCycleCut: Sendable {
    private var machine: DutyCycleMachine
    /// The latest status of the recorded radio.
    private var recorded: RadioEvent?

    /// Creates a filter before the first reading. The cycle must have no `problems`.
    package init(_ cycle: DutyCycle) { machine = DutyCycleMachine(cycle) }

    /// Returns the status changes of passes that began or ended before a reading, followed by the reading unless it is
    /// removed.
    package mutating func handle(_ reading: SensorReading) -> [SensorReading] {
        _ = machine.handle(.start, at: reading.instant)
        var readings = machine.catchUp(to: reading.instant).map { instant, directive in
            switch directive {
            case .beginPass: SensorReading.radio(beginning(at: instant))
            case .endPass: SensorReading.radio(RadioEvent(instant: instant, status: .resting))
            }
        }
        switch reading {
        case .sighting, .advertisement: if machine.isScanning { readings.append(reading) }
        case .radio(let event):
            recorded = event
            // If a recorded radio begins to receive during a rest, the next pass delivers this status.
            if machine.isScanning || event.status.isFailure { readings.append(reading) }
        case .motion, .step, .pressure, .gnss, .fix, .range: readings.append(reading)
        }
        return readings
    }

    /// Returns the status at the beginning of a pass: that of the recorded radio, which may be off.
    private func beginning(at instant: Instant) -> RadioEvent {
        var event = recorded ?? RadioEvent(instant: instant, status: .scanning)
        event.instant = instant
        if event.status == .resting { event.status = .scanning }
        return event
    }
}
