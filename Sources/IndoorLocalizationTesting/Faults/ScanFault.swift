import IndoorLocalization

/// A fault of a scan, with its time.
///
///     ScanFault(.duplicates(share: 0.5), at: .seconds(15), for: .seconds(10))
///     ScanFault(.suspension(.seconds(8 * 3600), isCounted: true), at: .seconds(15))
public struct ScanFault: Hashable, Sendable {
    /// The effect on the readings.
    public enum Kind: Hashable, Sendable {
        /// A share of the readings, in [0, 1], arrives twice.
        case duplicates(share: Double)
        /// Half of the readings arrive later than the following ones, by up to a duration.
        case reordering(longest: Duration)
        /// The instants differ from the correct ones by a duration, negative for earlier instants.
        case instantJump(by: Duration)
        /// The wall clock differs from the correct time by a duration, negative for an earlier time. Instants are
        /// correct.
        case wallClockJump(by: Duration)
        /// The machine was suspended for a duration, at the start of the fault. If `isCounted` is true, the instants
        /// include that time; otherwise they stop during the suspension. The wall clock includes it in both cases.
        case suspension(Duration, isCounted: Bool)
        /// No reading arrives.
        case silence
        /// Sightings of foreign beacons arrive, `rate` per second, each with one of `identities` random identities.
        case flood(rate: Double, identities: UInt64)
        /// The adapter is removed, and plugged in again at the end of the fault. The source reports both, as the
        /// sources of `BlueZScanning` do, and its scan continues.
        case unplugging
        /// The scan ends with an error. Until the end of the fault, each new scan also ends at its first reading.
        case failure
    }

    /// The effect on the readings.
    package var kind: Kind
    /// The start, counted from the first reading of the source.
    package var start: Duration
    /// The duration of the fault; nil for a fault that lasts until the end of the readings.
    package var duration: Duration?

    /// Creates a fault from its parts.
    public init(_ kind: Kind, at start: Duration, for duration: Duration? = nil) {
        (self.kind, self.start, self.duration) = (kind, start, duration)
    }

    /// The error of ``Kind/failure``: a session starts the scan again after a pause.
    public static let failure = LocalizationError(
        code: .generic, message: "the Bluetooth adapter was removed during the scan; plug it in again",
        kind: .sensorFailed)

    /// Returns whether the fault is active at a time since the first reading.
    func isActive(at time: Duration) -> Bool { time >= start && !isOver(at: time) }

    func isOver(at time: Duration) -> Bool { duration.map { time >= start + $0 } ?? false }
}
