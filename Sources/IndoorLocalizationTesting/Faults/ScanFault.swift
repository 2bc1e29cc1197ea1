import IndoorLocalization

/// A fault of a scan, with its time.
///
///     ScanFault(.duplicates(share: 0.5), at: .seconds(15), for: .seconds(10))
///     ScanFault(.suspension(.seconds(8 * 3600), isCounted: true), at: .seconds(15))
public struct ScanFault: Hashable, Sendable {
    /// What happens to the readings.
    public enum Kind: Hashable, Sendable {
        /// A share of the readings, in [0, 1], arrives twice.
        case duplicates(share: Double)
        /// Half of the readings arrive later than the following ones, by up to a duration.
        case reordering(longest: Duration)
        /// The instants differ by a duration from the right ones, negative for earlier instants.
        case instantJump(by: Duration)
        /// The wall clock differs by a duration from the right one, negative for an earlier time. Instants don't.
        case wallClockJump(by: Duration)
        /// The machine was suspended for a duration, at the start of the fault. The instants count that time, or stand
        /// still during the suspension; the wall clock counts it in both cases.
        case suspension(Duration, isCounted: Bool)
        /// No reading arrives.
        case silence
        /// Sightings of foreign beacons arrive, `rate` of them a second, each of one of so many random identities.
        case flood(rate: Double, identities: UInt64)
        /// The adapter is removed, and plugged in again at the end of the fault. The source reports both, as those of
        /// `BlueZScanning` do, and its scan goes on.
        case unplugging
        /// The scan ends with an error, and each scan that begins before the end of the fault ends with its first reading.
        case failure
    }

    /// What happens to the readings.
    public var kind: Kind
    /// The begin, counted from the first reading of the source.
    public var start: Duration
    /// How long the fault lasts; nil for a fault that lasts to the end of the readings.
    public var duration: Duration?

    /// Creates a fault from its parts.
    public init(_ kind: Kind, at start: Duration, for duration: Duration? = nil) {
        (self.kind, self.start, self.duration) = (kind, start, duration)
    }

    /// The error of ``Kind/failure``: a session starts the scan again after a pause.
    public static let failure = LocalizationError(
        code: .generic, message: "the Bluetooth adapter was removed during the scan; plug it in again",
        kind: .sensorFailed)

    /// Returns whether the fault exists at a time since the first reading.
    func isActive(at time: Duration) -> Bool { time >= start && !isOver(at: time) }

    func isOver(at time: Duration) -> Bool { duration.map { time >= start + $0 } ?? false }
}
