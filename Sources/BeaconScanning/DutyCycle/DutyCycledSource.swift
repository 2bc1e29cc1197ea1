import IndoorVocabulary

/// A source whose radio rests between passes: made with `dutyCycled(_:clock:)`.
///
/// On a live source each pass is a scan of its own, so that the radio is off between two of them. A recording runs
/// through, and what its radio heard between two passes is left out; its first reading begins the first pass.
///
/// The source tells of each rest: a reading with ``RadioEvent/Status/resting`` ends a pass, and one with
/// ``RadioEvent/Status/scanning`` begins the next. A session counts silence only in the time between the two.
public struct DutyCycledSource<Source: ScanSource>: ScanSource {
    private typealias Report = @Sendable (LocalizationError) -> Void
    private typealias Continuation = AsyncThrowingStream<SensorReading, any Error>.Continuation

    private let source: Source
    private let fixed: ScanSchedule
    /// What tells this source, while it scans, when its radio is to rest; nil if its duty cycle is fixed.
    public let steering: ScanSteering?
    private let makeClock: @Sendable () -> SessionClock

    init(source: Source, schedule: ScanSchedule, steering: ScanSteering?, clock: some Clock<Duration>) {
        self.source = source
        fixed = schedule
        self.steering = steering
        makeClock = { SessionClock(clock) }
    }

    /// That of the source.
    public var pace: ScanPace { source.pace }

    /// That of the source.
    public var wallClock: WallClock? { source.wallClock }

    /// Begins the first pass of a scan.
    ///
    /// The sequence ends with the source's, also with its error; with a cycle out of range, it throws a critical
    /// `LocalizationError` that names what is.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> { readings { _ in } }

    /// Begins the first pass of a scan, and tells errors that the source survives.
    public func readings(
        reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error> {
        .produced { continuation in
            if let error = LocalizationError(settingsProblems: schedule.problems) { throw error }
            switch (pace, steering) {
            case (.live, _): try await follow(report, into: continuation)
            case (.recorded, nil): try await cut(report, into: continuation)
            case (.recorded, _?): try await pass(report, into: continuation)
            }
        }
    }

    /// What is kept now.
    private var schedule: ScanSchedule { steering?.schedule ?? fixed }

    /// How a pass ended.
    private enum PassEnd: Sendable {
        case sourceEnded
        /// Its time was up; a pass without an end got one because the schedule changed then.
        case timeIsUp(changedAt: Instant?)
    }

    /// Scans a live source pass by pass, until it ends within one.
    private func follow(_ report: @escaping Report, into continuation: Continuation) async throws {
        let clock = makeClock()
        let present = LatestInstant(clock)
        var machine = DutyCycleMachine(schedule.cycle)
        _ = machine.handle(.start, at: .zero)
        while true {
            let end = machine.nextWake
            if machine.isScanning {
                // Not every source tells that it begins to hear. A radio that is off tells itself when it is on again.
                tell(.scanning, present, into: continuation)
                switch try await scan(until: end, on: clock, present, report, into: continuation) {
                case .sourceEnded: return
                case .timeIsUp(let change):
                    if let change { _ = machine.handle(.change(schedule.cycle), at: change) }
                }
                tell(.resting, present, into: continuation)
            } else if let end {
                try await clock.sleep(until: Instant.zero.duration(to: end))
            }
            let now = Instant.zero.advanced(by: clock.elapsed())
            if machine.nextWake != nil, machine.cycle != schedule.cycle {
                _ = machine.handle(.change(schedule.cycle), at: now)
            }
            _ = machine.handle(.tick, at: max(machine.nextWake ?? now, now))
        }
    }

    /// Tells what the radio does from now on, unless it can do nothing, or has told no instant yet.
    private func tell(_ status: RadioEvent.Status, _ present: LatestInstant, into continuation: Continuation) {
        guard !present.isFailing, let now = present.now else { return }
        continuation.yield(.radio(RadioEvent(instant: now, status: status)))
    }

    /// One pass.
    private func scan(
        until end: Instant?, on clock: SessionClock, _ present: LatestInstant, _ report: @escaping Report,
        into continuation: Continuation
    ) async throws -> PassEnd {
        // Subscribed before the schedule is looked at again, so that no change falls between.
        let changes = end == nil ? steering?.changes : nil
        return try await withThrowingTaskGroup(of: PassEnd.self) { group in
            group.addTask {
                for try await reading in source.beginReadings(timing: schedule.timing, reporting: report) {
                    present.note(reading)
                    continuation.yield(reading)
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
            return try await group.next() ?? .sourceEnded
        }
    }

    /// Waits until a pass without an end has got one by a change, and until that has come.
    ///
    /// - Returns: when the change was.
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

    /// Leaves out what a recording's radio heard between two passes.
    private func cut(_ report: @escaping Report, into continuation: Continuation) async throws {
        var cut = DutyCycleCut(fixed.cycle)
        for try await reading in source.beginReadings(reporting: report) {
            for reading in cut.handle(reading) { continuation.yield(reading) }
        }
    }

    /// A recording is not cut by settings that come while it plays: how far it has played then is chance.
    private func pass(_ report: @escaping Report, into continuation: Continuation) async throws {
        for try await reading in source.beginReadings(reporting: report) { continuation.yield(reading) }
    }
}

extension DutyCycledSource: SteerableScanSource, ReportingScanSource {}

extension ScanSource {
    /// This source with a radio that rests between passes, as for a `Localizer` on a battery.
    ///
    /// The time in which the radio rests is no silence: a localizer loses its venue after
    /// `LocalizationSettings.venueLostTimeout` of listening without a beacon, however long the rests are.
    public func dutyCycled(
        _ cycle: DutyCycle, clock: some Clock<Duration> = ContinuousClock()
    ) -> DutyCycledSource<Self> {
        DutyCycledSource(source: self, schedule: ScanSchedule(cycle: cycle), steering: nil, clock: clock)
    }

    /// This source with duty cycle and timing of a power mode; the timing is of effect on a `TimedScanSource` alone.
    public func dutyCycled(
        _ mode: PowerMode, clock: some Clock<Duration> = ContinuousClock()
    ) -> DutyCycledSource<Self> {
        DutyCycledSource(
            source: self, schedule: ScanSchedule(cycle: mode.dutyCycle, timing: mode.timing), steering: nil,
            clock: clock)
    }

    /// This source with a radio that rests as it is told while it scans.
    ///
    /// A `Localizer` on it tells it what its settings say: `scanner.dutyCycle` and `scanner.timing`, of whatever source
    /// they are, also of the venue for the time within it; while nobody gives a duty cycle, one pass without an end.
    /// On a recording it is of no effect.
    public func dutyCycledBySettings(
        _ steering: ScanSteering = ScanSteering(), clock: some Clock<Duration> = ContinuousClock()
    ) -> DutyCycledSource<Self> {
        DutyCycledSource(source: self, schedule: ScanSchedule(), steering: steering, clock: clock)
    }
}
