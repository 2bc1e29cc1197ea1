/// The timing of a scan: the radio listens for `window` of every `interval`.
///
/// Source: Bluetooth Core Specification 5.4, Vol 4, Part E, 7.8.10 (LE Set Scan Parameters).
public struct ScanTiming: Hashable, Sendable {
    /// The valid range of windows and intervals.
    public static let allowed: ClosedRange<Duration> = .microseconds(2500) ... .milliseconds(10_240)

    /// The time that the radio listens on one advertising channel; at most `interval`, within `allowed`.
    public var window: Duration
    /// The time between the beginnings of two windows, of which the second is on the next channel; within `allowed`.
    public var interval: Duration

    /// Creates a timing, without checking it: see `problems`.
    public init(window: Duration, interval: Duration) {
        self.window = window
        self.interval = interval
    }

    /// The radio listens all the time.
    public static let whole = ScanTiming(window: .milliseconds(60), interval: .milliseconds(60))
    /// The radio listens half of the time.
    public static let half = ScanTiming(window: .milliseconds(30), interval: .milliseconds(60))

    /// The share of the time in which the radio listens, in (0, 1].
    public var share: Double { window.seconds / interval.seconds }

    /// The values that are out of range; empty if all are valid.
    public var problems: [String] { Self.list.problems(in: self, prefix: "timing.") }
}

extension ScanTiming {
    /// The settings of a radio's timing, each once.
    package static let list: [Setting<ScanTiming>] = [
        .duration(
            "interval", \.interval, from: allowed.lowerBound, to: allowed.upperBound, scope: .venue,
            "The time from the beginning of one listening window to that of the next one; `null` leaves it to the source."
        ),
        .duration(
            "window", \.window, from: allowed.lowerBound, to: allowed.upperBound, scope: .venue,
            "How long the radio listens within each interval, at most all of it; `null` leaves it to the source.",
            beside: { allowed.lowerBound...max(allowed.lowerBound, $0.interval) }),
    ]
}
