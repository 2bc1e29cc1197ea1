import IndoorVocabulary

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
