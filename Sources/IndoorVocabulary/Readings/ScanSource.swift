/// A source of sensor readings: a radio, a recording or a simulator.
public protocol ScanSource: Sendable {
    /// Whether time passes in real time or with the instants of the readings.
    var pace: ScanPace { get }

    /// The relation between the instants of the source and Unix time; nil without a wall clock, which is the default.
    ///
    /// A live source measures the relation at each access. A recording has it once the first reading was read. A source
    /// that wraps another source returns the relation of that source.
    var wallClock: WallClock? { get }

    /// Begins to scan and returns the readings, ordered by instant, until the scan ends or is cancelled.
    ///
    /// The stream throws the error that ended the scan. Each call begins a separate scan.
    func readings() -> AsyncThrowingStream<SensorReading, any Error>
}

extension ScanSource {
    /// No wall clock.
    public var wallClock: WallClock? { nil }
}

/// The way in which time passes for a source.
public enum ScanPace: Hashable, Sendable {
    /// Readings arrive in real time. Time also passes while no readings arrive.
    case live
    /// Readings arrive as fast as they are fetched. Time passes only with the instants of the readings.
    case recorded
}

/// A source that reports errors without ending its stream.
///
/// A ``Localizer`` emits such errors on ``Localizer/errors``.
public protocol ReportingScanSource: ScanSource {
    /// Begins to scan like `readings()`.
    ///
    /// - Parameter report: is called with each error that does not end the scan.
    func readings(
        reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error>
}

/// A source whose radio has an adjustable scan timing.
public protocol TimedScanSource: ScanSource {
    /// Begins to scan like `readings()`, with the given timing instead of the default of the source.
    func readings(timing: ScanTiming) -> AsyncThrowingStream<SensorReading, any Error>
}

/// A source that wraps other sources and forwards the parameters of a scan to them.
package protocol WrappingScanSource: ReportingScanSource {
    /// Begins to scan. The timing applies to the radio among the wrapped sources.
    func readings(
        timing: ScanTiming?, reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error>
}

extension WrappingScanSource {
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> { readings { _ in } }

    public func readings(
        reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error> { readings(timing: nil, reporting: report) }
}

extension ScanSource {
    /// Begins to scan, with the given timing if the source supports one.
    ///
    /// - Parameter report: is called with each error that does not end the scan, if the source reports such errors.
    package func beginReadings(
        timing: ScanTiming? = nil, reporting report: @escaping @Sendable (LocalizationError) -> Void = { _ in }
    ) -> AsyncThrowingStream<SensorReading, any Error> {
        if let wrapping = self as? any WrappingScanSource {
            return wrapping.readings(timing: timing, reporting: report)
        }
        if let timing, let timed = self as? any TimedScanSource { return timed.readings(timing: timing) }
        return (self as? any ReportingScanSource)?.readings(reporting: report) ?? readings()
    }
}

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

/// The beginning or the end of a pass.
public struct ScanEvent: Hashable, Sendable {
    /// The kinds of events.
    public enum Kind: String, Hashable, Sendable {
        /// A pass began: the radio receives.
        case started
        /// A pass ended: the radio receives nothing until the next one begins.
        case stopped
    }

    /// The kind of the event.
    public var kind: Kind
    /// Time since the scanner was started; on a recording, since its first reading.
    public var elapsed: Duration
    /// When it happened, on the timeline of the source; nil before the first reading of the source.
    public var instant: Instant?

    /// Creates an event.
    package init(kind: Kind, elapsed: Duration, instant: Instant? = nil) {
        self.kind = kind
        self.elapsed = elapsed
        self.instant = instant
    }
}

/// A change of the status of a scanning radio.
public struct RadioEvent: Hashable, Sendable {
    /// Whether a radio receives, and if not, the reason.
    public enum Status: String, Hashable, Sendable, CaseIterable {
        /// The radio scans, and the source delivers every report.
        case scanning
        /// The radio receives during the scan of another program: reports may be filtered or merged.
        case sharing
        /// The radio is off until the next pass of its duty cycle; this is not a failure.
        case resting
        /// The adapter is powered off; the scan continues when it is powered on.
        case poweredOff
        /// The adapter is blocked by a radio switch (rfkill).
        case blocked
        /// The adapter is missing; the scan continues when it is plugged in.
        case unplugged
        /// The Bluetooth service is not running; the scan continues when it is started.
        case serviceLost
        /// The adapter refused to scan; the source tries again.
        case refused

        /// Whether the radio receives advertisements.
        package var isHearing: Bool { self == .scanning || self == .sharing }

        /// Whether a failure prevents the scan; `resting` is not a failure.
        package var isFailure: Bool { !isHearing && self != .resting }
    }

    /// When the status changed.
    public var instant: Instant
    /// The new status.
    public var status: Status
    /// The name of the adapter, such as "hci0"; nil if unknown.
    public var adapter: String?
    /// Further information for the user; nil if there is none.
    public var detail: String?

    /// Creates an event from its parts.
    public init(instant: Instant, status: Status, adapter: String? = nil, detail: String? = nil) {
        self.instant = instant
        self.status = status
        self.adapter = adapter
        self.detail = detail
    }
}

extension RadioEvent: CustomStringConvertible {
    public var description: String {
        let what =
            switch status {
            case .scanning: "scans"
            case .sharing: "receives during the scan of another program"
            case .resting: "rests until the next pass"
            case .poweredOff: "is powered off"
            case .blocked: "is blocked by a radio switch (rfkill)"
            case .unplugged: "is not plugged in"
            case .serviceLost: "cannot be reached: the Bluetooth service does not run"
            case .refused: "refused to scan"
            }
        return "\(adapter ?? "the Bluetooth adapter") \(what)" + (detail.map { ": \($0)" } ?? "")
    }
}

extension LocalizationError {
    /// Creates the error for a radio that stopped receiving; the session continues.
    package init(_ event: RadioEvent) { self.init(code: .generic, message: "\(event)", kind: .sensorFailed) }
}
