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
