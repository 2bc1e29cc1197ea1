/// The timing of a scan: the radio listens for `window` in every `interval`.
///
/// Source: Bluetooth Core Specification 5.4, Vol 4, Part E, 7.8.10 (LE Set Scan Parameters).
public struct ScanTiming: Hashable, Sendable {
    /// The valid range of windows and intervals.
    public static let allowed: ClosedRange<Duration> = .microseconds(2500) ... .milliseconds(10_240)

    /// How long the radio listens within each interval, on one advertising channel; at most `interval`, within
    /// `allowed`.
    public var window: Duration
    /// The time between the beginnings of two scan windows, which are on successive channels; within `allowed`.
    public var interval: Duration

    /// Creates a timing without checking it; see `problems`.
    public init(window: Duration, interval: Duration) {
        self.window = window
        self.interval = interval
    }

    /// A timing with which the radio listens all the time.
    public static let whole = ScanTiming(window: .milliseconds(60), interval: .milliseconds(60))
    /// A timing with which the radio listens half of the time.
    public static let half = ScanTiming(window: .milliseconds(30), interval: .milliseconds(60))

    /// The share of the time in which the radio listens, in (0, 1].
    public var share: Double { window.seconds / interval.seconds }

    /// The values that are out of range; empty if all are valid.
    public var problems: [String] { Self.list.problems(in: self, prefix: "timing.") }
}

extension ScanTiming {
    /// The settings of the scan timing.
    package static let list: [Setting<ScanTiming>] = [
        .duration(
            "interval", \.interval, from: allowed.lowerBound, to: allowed.upperBound, scope: .venue,
            "The time between the beginnings of two scan windows; `null` for the default of the source."
        ),
        .duration(
            "window", \.window, from: allowed.lowerBound, to: allowed.upperBound, scope: .venue,
            "How long the radio listens in each interval, at most `interval`; `null` for the default of the source.",
            beside: { allowed.lowerBound...max(allowed.lowerBound, $0.interval) }),
    ]
}
