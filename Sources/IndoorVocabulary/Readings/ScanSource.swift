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
