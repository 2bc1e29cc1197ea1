/// A source whose radio rests between passes: made with `dutyCycled(_:clock:)`.
///
/// On a live source each pass is a scan of its own, so that the radio is off between two of them. A recording runs
/// through, and what its radio heard between two passes is left out; its first reading begins the first pass.
public struct DutyCycledSource<Source: ScanSource>: ScanSource {
    private typealias Continuation = AsyncThrowingStream<SensorReading, any Error>.Continuation

    private let source: Source
    private let cycle: DutyCycle
    private let timing: ScanTiming?
    private let makeClock: @Sendable () -> SessionClock

    init(source: Source, cycle: DutyCycle, timing: ScanTiming?, clock: some Clock<Duration>) {
        self.source = source
        self.cycle = cycle
        self.timing = timing
        makeClock = { SessionClock(clock) }
    }

    /// That of the source.
    public var pace: ScanPace { source.pace }

    /// Begins the first pass of a scan.
    ///
    /// The sequence ends with the source's, also with its error; with a cycle out of range, it throws a critical
    /// `LocalizationError` that names what is.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    if let error = LocalizationError(settingsProblems: problems) { throw error }
                    if pace == .live { try await follow(into: continuation) } else { try await cut(into: continuation) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private var problems: [String] { cycle.problems + (timing?.problems ?? []) }

    /// Scans a live source pass by pass, until it ends within one.
    private func follow(into continuation: Continuation) async throws {
        let clock = makeClock()
        var machine = DutyCycleMachine(cycle)
        _ = machine.handle(.start, at: .zero)
        while true {
            let end = machine.nextWake
            if machine.isScanning {
                let end = end.map { Instant.zero.duration(to: $0) }
                guard try await scan(until: end, on: clock, into: continuation) else { return }
            } else if let end {
                try await clock.sleep(until: Instant.zero.duration(to: end))
            }
            let now = Instant.zero.advanced(by: clock.elapsed())
            _ = machine.handle(.tick, at: max(end ?? now, now))
        }
    }

    /// One pass; returns false if the source has ended.
    private func scan(
        until end: Duration?, on clock: SessionClock, into continuation: Continuation
    ) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                for try await reading in source.beginReadings(timing: timing) { continuation.yield(reading) }
                return false
            }
            if let end {
                group.addTask {
                    try await clock.sleep(until: end)
                    return true
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }

    /// Leaves out what a recording's radio heard between two passes.
    private func cut(into continuation: Continuation) async throws {
        var machine = DutyCycleMachine(cycle)
        for try await reading in source.readings() {
            _ = machine.handle(.start, at: reading.instant)
            machine.catchUp(to: reading.instant)
            switch reading {
            case .sighting, .advertisement: if machine.isScanning { continuation.yield(reading) }
            case .motion, .step, .pressure, .gnss, .fix, .radio: continuation.yield(reading)
            }
        }
    }
}

extension ScanSource {
    /// This source with a radio that rests between passes, as for a `Localizer` on a battery.
    ///
    /// A localizer loses its venue after `LocalizationSettings.venueLostTimeout` without a beacon: give it more than
    /// the rest between two passes.
    public func dutyCycled(
        _ cycle: DutyCycle, clock: some Clock<Duration> = ContinuousClock()
    ) -> DutyCycledSource<Self> {
        DutyCycledSource(source: self, cycle: cycle, timing: nil, clock: clock)
    }

    /// This source with duty cycle and timing of a power mode; the timing is of effect on a `TimedScanSource` alone.
    public func dutyCycled(
        _ mode: PowerMode, clock: some Clock<Duration> = ContinuousClock()
    ) -> DutyCycledSource<Self> {
        DutyCycledSource(source: self, cycle: mode.dutyCycle, timing: mode.timing, clock: clock)
    }
}
