/// A time on the wall clock: Unix time, in milliseconds.
public struct UnixTime: Hashable, Comparable, Sendable {
    /// Milliseconds since 1 January 1970, 00:00 UTC.
    public var milliseconds: Int64

    /// Creates a time from milliseconds since 1970 (UTC).
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Seconds since 1970 (UTC), with a fraction.
    public var seconds: Double { Double(milliseconds) / 1000 }

    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.milliseconds < right.milliseconds }
}

/// How the instants of a source relate to Unix time.
///
/// Instants never jump, but a wall clock may be set at any time. A live source therefore measures the relation each time
/// it is asked, and one value is right only for instants near the time at which it was measured.
public struct WallClock: Hashable, Sendable {
    /// The Unix time of ``Instant/zero``, as the time since 1970 (UTC).
    public var timeOfZero: Duration
    /// The Unix time at which the relation was measured; nil if no time passes by itself, as on a recording.
    public var measuredAt: UnixTime?

    /// Creates the relation from the Unix time of ``Instant/zero``.
    ///
    /// - Parameters:
    ///   - timeOfZero: the time since 1970 (UTC).
    ///   - measuredAt: when the relation was measured; nil on a recording.
    public init(timeOfZero: Duration, measuredAt: UnixTime? = nil) {
        self.timeOfZero = timeOfZero
        self.measuredAt = measuredAt
    }

    /// The Unix time at an instant, rounded down to the millisecond.
    public func unixTime(at instant: Instant) -> UnixTime {
        let nanoseconds = instant.advanced(by: timeOfZero).nanoseconds
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return UnixTime(milliseconds: remainder < 0 ? quotient - 1 : quotient)
    }
}
