import IndoorVocabulary

/// A source whose radio rests between passes; create it with `dutyCycled(_:clock:)`.
///
/// On a live source, each pass is a separate scan, so the radio is off between two passes. If the reader is slow, the
/// stream keeps the newest 65,536 readings and reports the number of lost readings with a ``RadioEvent``. On a
/// recording, the source removes the receptions between two passes; the first reading begins the first pass.
///
/// A reading with ``RadioEvent/Status/resting`` ends a pass, and one with ``RadioEvent/Status/scanning`` begins the next one. A
/// session measures silence only within passes.
public struct DutyCycledSource<Source: ScanSource>: ScanSource {
    private typealias Report = @Sendable (LocalizationError) -> Void

    private let source: Source
    private let fixed: ScanSchedule
    /// The control of the schedule while the source scans; nil if its duty cycle is fixed.
    package let steering: ScanSteering?
    private let makeClock: @Sendable () -> SessionClock

    init(source: Source, schedule: ScanSchedule, steering: ScanSteering?, clock: some Clock<Duration>) {
        self.source = source
        fixed = schedule
        self.steering = steering
        makeClock = { SessionClock(clock) }
    }

    /// The pace of the source.
    public var pace: ScanPace { source.pace }

    /// The wall clock of the source.
    public var wallClock: WallClock? { source.wallClock }

    /// Begins the first pass of a scan.
    ///
    /// The stream ends when the source's stream ends, with the same error. If the cycle is out of range, the stream
    /// throws a critical `LocalizationError` with the invalid values.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> { readings { _ in } }

    /// Begins the first pass of a scan.
    ///
    /// - Parameter report: is called with each error that does not end the scan.
    public func readings(
        reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error> {
        if let error = LocalizationError(settingsProblems: schedule.problems) {
            return AsyncThrowingStream { $0.finish(throwing: error) }
        }
        switch (pace, steering) {
        case (.live, _): return ReadingFeed.readings { try await follow(report, into: $0) }
        case (.recorded, nil): return cutReadings(report)
        // Changes of the settings don't remove readings from a recording, because its progress at the time of a change
        // is arbitrary.
        case (.recorded, _?): return source.beginReadings(reporting: report)
        }
    }

    /// The current schedule.
    private var schedule: ScanSchedule { steering?.schedule ?? fixed }

    /// The reason for the end of a pass.
    private enum PassEnd: Sendable {
        case sourceEnded
        /// The time of the pass is over. For an endless pass, `changedAt` is when a changed schedule set an end.
        case timeIsUp(changedAt: Instant?)
    }

    /// Scans a live source pass by pass, until the source ends during a pass.
    private func follow(_ report: @escaping Report, into feed: ReadingFeed) async throws {
        let clock = makeClock()
        let present = LatestInstant(clock)
        var machine = DutyCycleMachine(schedule.cycle)
        _ = machine.handle(.start, at: .zero)
        while true {
            let end = machine.nextWake
            let now: Instant
            if machine.isScanning {
                // Report the scan, because not every source does. A radio that is off reports when it is on again.
                tell(.scanning, present, into: feed)
                let (reason, instant) = try await scan(until: end, on: clock, present, report, into: feed)
                switch reason {
                case .sourceEnded: return
                case .timeIsUp(let change):
                    if let change { _ = machine.handle(.change(schedule.cycle), at: change) }
                }
                now = instant
                tell(.resting, present, into: feed)
            } else {
                if let end { try await clock.sleep(until: Instant.zero.duration(to: end)) }
                now = Instant.zero.advanced(by: clock.elapsed())
            }
            if machine.nextWake != nil, machine.cycle != schedule.cycle {
                _ = machine.handle(.change(schedule.cycle), at: now)
            }
            _ = machine.handle(.tick, at: max(machine.nextWake ?? now, now))
        }
    }

    /// Yields the status of the radio, unless it has failed, or there was no reading yet, which determines the instant.
    private func tell(_ status: RadioEvent.Status, _ present: LatestInstant, into feed: ReadingFeed) {
        guard !present.isFailing, let now = present.now else { return }
        feed.yield(.radio(RadioEvent(instant: now, status: status)))
    }

    /// Scans for one pass.
    ///
    /// - Returns: the reason for its end, and when it ended. The radio may take a while to stop after that.
    private func scan(
        until end: Instant?, on clock: SessionClock, _ present: LatestInstant, _ report: @escaping Report,
        into feed: ReadingFeed
    ) async throws -> (PassEnd, Instant) {
        // Subscribe before reading the schedule again, so that no change is missed.
        let changes = end == nil ? steering?.changes : nil
        return try await withThrowingTaskGroup(of: PassEnd.self) { group in
            group.addTask {
                for try await reading in source.beginReadings(timing: schedule.timing, reporting: report) {
                    present.note(reading)
                    feed.yield(reading)
                }
                return .sourceEnded
            }
            if let end {
                group.addTask {
                    try await clock.sleep(until: Instant.zero.duration(to: end))
                    return .timeIsUp(changedAt: nil)
                }
            } else if let changes {
                group.addTask { .timeIsUp(changedAt: try await Self.end(schedule, changes, on: clock)) }
            }
            defer { group.cancelAll() }
            let end = try await group.next() ?? .sourceEnded
            return (end, Instant.zero.advanced(by: clock.elapsed()))
        }
    }

    /// Waits until a changed schedule sets an end of the endless pass, and then until that end.
    ///
    /// - Returns: the time of the change.
    private static func end(
        _ schedule: ScanSchedule, _ changes: AsyncStream<ScanSchedule>, on clock: SessionClock
    ) async throws -> Instant {
        var current: ScanSchedule? = schedule
        var iterator = changes.makeAsyncIterator()
        while let next = current, next.cycle.isContinuous { current = await iterator.next() }
        try Task.checkCancellation()
        let change = clock.elapsed()
        try await clock.sleep(until: change + (current?.cycle.scanDuration ?? .zero))
        return Instant.zero.advanced(by: change)
    }

    /// Returns the readings of a recording without the receptions between two passes.
    private func cutReadings(_ report: @escaping Report) -> AsyncThrowingStream<SensorReading, any Error> {
        let cut = Guarded(DutyCycleCut(fixed.cycle))
        return source.beginReadings(reporting: report).transformed { reading in
            cut.withLock { $0.handle(reading) }
        }
    }
}

extension DutyCycledSource: SteerableScanSource, ReportingScanSource, RadioHoldingSource {
    /// Returns nil, because the source keeps the duty cycle that was set in code.
    package func following(
        _ steering: ScanSteering, clock: some Clock<Duration>
    ) throws(LocalizationError) -> (any ScanSource)? { nil }
}

extension ScanSource {
    /// Returns this source with a radio that rests between passes, for a `Localizer` on battery power.
    ///
    /// A localizer measures silence only within passes: it loses its venue after listening for
    /// `LocalizationSettings.venueLostTimeout` without a beacon, regardless of the rests.
    public func dutyCycled(
        _ cycle: DutyCycle, clock: some Clock<Duration> = ContinuousClock()
    ) -> DutyCycledSource<Self> {
        DutyCycledSource(source: self, schedule: ScanSchedule(cycle: cycle), steering: nil, clock: clock)
    }

    /// Returns this source with the duty cycle and timing of a power mode. Only a `TimedScanSource` uses the timing.
    public func dutyCycled(
        _ mode: PowerMode, clock: some Clock<Duration> = ContinuousClock()
    ) -> DutyCycledSource<Self> {
        DutyCycledSource(
            source: self, schedule: ScanSchedule(cycle: mode.dutyCycle, timing: mode.timing), steering: nil,
            clock: clock)
    }

    /// Returns this source with a schedule that can change while it scans.
    ///
    /// A `Localizer` sets the schedule from its settings `scanner.dutyCycle` and `scanner.timing`, including those of
    /// the venue while the device is in it. Without a duty cycle in the settings, the schedule is one endless pass. On
    /// a recording, it has no effect. A localizer also applies this schedule to a source without a duty cycle; use this
    /// method to provide your own control or clock.
    public func dutyCycledBySettings(
        _ steering: ScanSteering = ScanSteering(), clock: some Clock<Duration> = ContinuousClock()
    ) -> DutyCycledSource<Self> {
        DutyCycledSource(source: self, schedule: ScanSchedule(), steering: steering, clock: clock)
    }
}

/// The current instant on the timeline of a source, calculated from its latest reading and a clock.
final class LatestInstant: Sendable {
    private struct State {
        /// The instant of the latest reading, and the time of the clock at its arrival.
        var anchor: (instant: Instant, elapsed: Duration)?
        /// Whether the radio has reported a failure and has received nothing since then.
        var isFailing = false
    }

    private let clock: SessionClock
    private let state = Guarded(State())

    /// Creates the value before the first reading.
    init(_ clock: SessionClock) { self.clock = clock }

    /// The current instant; nil before the first reading.
    var now: Instant? {
        let elapsed = clock.elapsed()
        return state.withLock { $0.anchor.map { $0.instant.advanced(by: elapsed - $0.elapsed) } }
    }

    /// Whether a failure prevents the radio from receiving, during a pass or a rest.
    var isFailing: Bool { state.withLock { $0.isFailing } }

    /// Records a reading that arrives now.
    func note(_ reading: SensorReading) {
        let elapsed = clock.elapsed()
        state.withLock { state in
            switch reading {
            case .radio(let event): state.isFailing = event.status.isFailure
            case .sighting, .advertisement: state.isFailing = false
            case .motion, .step, .pressure, .gnss, .fix, .range: break
            }
            guard state.anchor.map({ reading.instant >= $0.instant }) ?? true else { return }
            state.anchor = (reading.instant, elapsed)
        }
    }
}

/// A control that changes the schedule of a source while it scans.
///
/// A `Localizer` sets it from its settings, so that the duty cycle of a venue applies while the device is in it.
public final class ScanSteering: Sendable {
    private let current: Guarded<ScanSchedule>
    private let broadcast = Broadcast<ScanSchedule>(.bufferingNewest(1))

    /// Creates a control with a schedule.
    public init(_ schedule: ScanSchedule = ScanSchedule()) { current = Guarded(schedule) }

    /// The schedule that applies from the next boundary.
    package var schedule: ScanSchedule { current.withLock { $0 } }

    /// The changes of the schedule, from now on.
    var changes: AsyncStream<ScanSchedule> { broadcast.subscribe() }

    /// Changes the schedule from the next boundary: the current pass or rest ends as before.
    ///
    /// An endless pass ends one `scanDuration` after the change.
    /// - Throws: `LocalizationError` with the values that are out of range; the schedule is then unchanged.
    package func set(_ schedule: ScanSchedule) throws(LocalizationError) {
        if var error = LocalizationError(settingsProblems: schedule.problems) {
            error.code = .generic
            throw error
        }
        current.withLock { $0 = schedule }
        broadcast.send(schedule)
    }
}

/// A source whose schedule can change while it scans.
package protocol SteerableScanSource: ScanSource {
    /// The control of the schedule; nil if the schedule is fixed.
    var steering: ScanSteering? { get }
}

/// A source that contains the radio, so that ending the source's scan is not a way to let the radio rest.
package protocol RadioHoldingSource: ScanSource {
    /// Returns a copy of this source whose radio follows a control; nil if the radio has its own duty cycle.
    ///
    /// - Throws: `LocalizationError` if the radio can't rest.
    func following(
        _ steering: ScanSteering, clock: some Clock<Duration>
    ) throws(LocalizationError) -> (any ScanSource)?
}

extension ScanSource {
    /// Changes the schedule of a steerable source. A live source without a duty cycle needs a control first.
    ///
    /// - Returns: a source that follows the schedule and replaces this one; nil if this source itself follows it, has
    ///   its own duty cycle, or is a recording.
    /// - Throws: `LocalizationError` with the values that are out of range, or because the radio can't rest; the schedule
    ///   is then unchanged.
    package func keeping(
        _ schedule: ScanSchedule, clock: some Clock<Duration>
    ) throws(LocalizationError) -> (any ScanSource)? {
        if let steering = (self as? any SteerableScanSource)?.steering {
            try steering.set(schedule)
            return nil
        }
        guard pace == .live, schedule != ScanSchedule() else { return nil }
        let steering = ScanSteering()
        try steering.set(schedule)
        return try withControl(steering, clock: clock)
    }

    /// Returns this source with a radio that follows a control; nil if the radio has its own duty cycle.
    func withControl(
        _ steering: ScanSteering, clock: some Clock<Duration>
    ) throws(LocalizationError) -> (any ScanSource)? {
        if let holder = self as? any RadioHoldingSource { return try holder.following(steering, clock: clock) }
        // A steerable source without a control has a fixed schedule.
        return self is any SteerableScanSource ? nil : dutyCycledBySettings(steering, clock: clock)
    }
}
