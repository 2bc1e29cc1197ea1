import IndoorVocabulary

/// A control that changes the schedule of a source while it scans.
///
/// A `Localizer` sets it from its settings, so that the duty cycle of a venue applies while the device is in it.
public final class ScanSteering: Sendable {
    private let current: Guarded<ScanSchedule>
    private let broadcast = Broadcast<ScanSchedule>(.bufferingNewest(1))

    /// Creates a control with a schedule.
    public init(_ schedule: ScanSchedule = ScanSchedule()) { current = Guarded(schedule) }

    /// The schedule, which applies from the next boundary.
    public var schedule: ScanSchedule { current.withLock { $0 } }

    /// Changes from now on.
    var changes: AsyncStream<ScanSchedule> { broadcast.subscribe() }

    /// Changes the schedule from the next boundary: the present pass or rest ends as before.
    ///
    /// An endless pass ends one `scanDuration` after the change.
    /// - Throws: `LocalizationError` with the values that are out of range; the schedule is then unchanged.
    public func set(_ schedule: ScanSchedule) throws(LocalizationError) {
        if var error = LocalizationError(settingsProblems: schedule.problems) {
            error.code = .generic
            throw error
        }
        current.withLock { $0 = schedule }
        broadcast.send(schedule)
    }
}

/// A source whose schedule can change while it scans.
public protocol SteerableScanSource: ScanSource {
    /// The control of the schedule; nil if it is fixed.
    var steering: ScanSteering? { get }
}

extension ScanSource {
    /// Changes the schedule of a steerable source; it has no effect on other sources.
    ///
    /// - Throws: `LocalizationError` with the values that are out of range; the schedule is then unchanged.
    package func keep(_ schedule: ScanSchedule) throws(LocalizationError) {
        try (self as? any SteerableScanSource)?.steering?.set(schedule)
    }
}
