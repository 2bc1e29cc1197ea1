/// A wall-clock time as Unix time in milliseconds.
public struct UnixTime: Hashable, Comparable, Sendable {
    /// Milliseconds since 1 January 1970, 00:00 UTC.
    public var milliseconds: Int64

    /// Creates a time from milliseconds since 1970 (UTC).
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Seconds since 1970 (UTC), with a fraction.
    public var seconds: Double { Double(milliseconds) / 1000 }

    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.milliseconds < right.milliseconds }
}

/// The relation between the instants of a source and Unix time.
///
/// Instants never jump, but a wall clock can be set at any time. A live source therefore measures the relation at each
/// access, and a value is valid only for instants near the time of its measurement.
public struct WallClock: Hashable, Sendable {
    /// The Unix time of ``Instant/zero``, as a duration since 1970 (UTC).
    public var timeOfZero: Duration
    /// The Unix time at which the relation was measured; nil for a recording.
    public var measuredAt: UnixTime?

    /// Creates the relation from the Unix time of ``Instant/zero``.
    ///
    /// - Parameters:
    ///   - timeOfZero: The duration since 1970 (UTC).
    ///   - measuredAt: The time at which the relation was measured; nil for a recording.
    public init(timeOfZero: Duration, measuredAt: UnixTime? = nil) {
        self.timeOfZero = timeOfZero
        self.measuredAt = measuredAt
    }

    /// Returns the Unix time at an instant, rounded down to the millisecond.
    public func unixTime(at instant: Instant) -> UnixTime {
        let nanoseconds = instant.advanced(by: timeOfZero).nanoseconds
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return UnixTime(milliseconds: remainder < 0 ? quotient - 1 : quotient)
    }
}
