import IndoorVocabulary

/// Tells a source, while it scans, when its radio is to rest.
///
/// A `Localizer` tells it what its settings say, so that a venue's duty cycle is kept for as long as the device is there.
public final class ScanSteering: Sendable {
    private let current: Guarded<ScanSchedule>
    private let broadcast = Broadcast<ScanSchedule>(.bufferingNewest(1))

    /// Creates a steering that begins with a schedule.
    public init(_ schedule: ScanSchedule = ScanSchedule()) { current = Guarded(schedule) }

    /// What is kept from the next boundary on.
    public var schedule: ScanSchedule { current.withLock { $0 } }

    /// Changes from now on.
    var changes: AsyncStream<ScanSchedule> { broadcast.subscribe() }

    /// Keeps another schedule from the next boundary on: a pass or a rest that is on ends when it would have ended.
    ///
    /// A pass without an end then ends one `scanDuration` after the change.
    /// - Throws: `LocalizationError` that names what is out of range; then nothing is changed.
    public func set(_ schedule: ScanSchedule) throws(LocalizationError) {
        if var error = LocalizationError(settingsProblems: schedule.problems) {
            error.code = .generic
            throw error
        }
        current.withLock { $0 = schedule }
        broadcast.send(schedule)
    }
}

/// A source that can be told, while it scans, when its radio is to rest.
public protocol SteerableScanSource: ScanSource {
    /// What tells it; nil if it cannot be told.
    var steering: ScanSteering? { get }
}

extension ScanSource {
    /// Tells a source that can be told when its radio is to rest; on another one it is of no effect.
    ///
    /// - Throws: what is out of range; then nothing is changed.
    package func keep(_ schedule: ScanSchedule) throws(LocalizationError) {
        try (self as? any SteerableScanSource)?.steering?.set(schedule)
    }
}
