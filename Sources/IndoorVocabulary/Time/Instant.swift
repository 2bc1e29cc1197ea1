import TextFormats

/// A point on a session's monotonic timeline, with nanosecond resolution.
///
/// Compare only instants of the same source: each source defines its own zero point, such as the start of a recording
/// or the boot of a machine. The core never reads a clock; each measurement carries its own instant.
public struct Instant: InstantProtocol, Hashable, Sendable {
    /// Nanoseconds since the timeline's zero point.
    public var nanoseconds: Int64

    /// The timeline's zero point.
    public static let zero = Instant(nanoseconds: 0)

    /// Creates an instant `nanoseconds` after the timeline's zero point.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Creates an instant `seconds` after the timeline's zero point, rounded to the nanosecond.
    ///
    /// NaN becomes zero. Values beyond ±292 years are clamped.
    public init(seconds: Double) {
        let value = (seconds * 1e9).rounded()
        if value.isNaN {
            nanoseconds = 0
        } else if value >= 9.2e18 {
            nanoseconds = .max
        } else if value <= -9.2e18 {
            nanoseconds = .min
        } else {
            nanoseconds = Int64(value)
        }
    }

    /// Seconds since the timeline's zero point.
    public var seconds: Double { Double(nanoseconds) / 1e9 }

    /// Returns the instant a duration later, clamped to ±292 years.
    public func advanced(by duration: Duration) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return Instant(nanoseconds: overflow ? (nanoseconds < 0 ? .min : .max) : sum)
    }

    /// Moves this instant by a duration, as ``advanced(by:)`` does.
    package mutating func move(by duration: Duration) { self = advanced(by: duration) }

    /// Returns the seconds of `duration(to:)`, without its 128-bit arithmetic.
    package func seconds(to other: Instant) -> Double {
        let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        let clamped = overflow ? (nanoseconds < 0 ? Int64.max : .min) : difference
        let (seconds, rest) = clamped.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Double(seconds) + Double(rest * 1_000_000_000) * 1e-18
    }

    /// Returns the duration until another instant, clamped to ±292 years.
    public func duration(to other: Instant) -> Duration {
        let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return .nanoseconds(overflow ? (nanoseconds < 0 ? .max : .min) : difference)
    }

    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension Duration {
    /// The duration in whole nanoseconds, clamped to the bounds of `Int64` beyond ±292 years.
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        return product &+ attoseconds / 1_000_000_000
    }

    /// The duration in seconds.
    public var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}

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

/// A date and a time of day in UTC, in the Gregorian calendar.
package struct CivilTime: Hashable, Sendable {
    package let year: Int
    /// The month, in 1...12.
    package let month: Int
    /// The day of the month, in 1...31.
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int
    package let millisecond: Int

    /// The years count from March, so that a leap day is the last day of a year. 719,468 days are from 1 March of year 0 to
    /// 1 January 1970, and 146,097 days are in 400 years.
    ///
    /// Source: H. Hinnant, *chrono-Compatible Low-Level Date Algorithms*, 2013, `civil_from_days`.
    package init(_ time: UnixTime) {
        let (days, ofDay) = Self.division(time.milliseconds, by: 86_400_000)
        let (era, ofEra) = Self.division(days + 719_468, by: 146_097)
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let dayOfYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
        month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
        hour = Int(ofDay / 3_600_000)
        minute = Int(ofDay / 60_000 % 60)
        second = Int(ofDay / 1000 % 60)
        millisecond = Int(ofDay % 1000)
    }

    /// The time in the format of ISO 8601 and RFC 3339, with milliseconds: `2026-11-25T21:16:38.720Z`.
    package var text: String {
        let date = [FixedDecimals.padded(year, 4), two(month), two(day)].joined(separator: "-")
        let time = [two(hour), two(minute), two(second)].joined(separator: ":")
        return "\(date)T\(time).\(FixedDecimals.padded(millisecond, 3))Z"
    }

    private func two(_ number: Int) -> String { FixedDecimals.padded(number, 2) }

    /// Returns the quotient, rounded down, and the remainder, which isn't negative.
    private static func division(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
