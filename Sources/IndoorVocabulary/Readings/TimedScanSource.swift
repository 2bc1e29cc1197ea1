/// A source whose radio has an adjustable scan timing.
public protocol TimedScanSource: ScanSource {
    /// Begins to scan like `readings()`, with the given timing instead of the default of the source.
    func readings(timing: ScanTiming) -> AsyncThrowingStream<SensorReading, any Error>
}

/// A source that wraps others and forwards the parameters of a scan to them.
package protocol WrappingScanSource: ReportingScanSource {
    /// Begins to scan. The timing is for the radio among the sources.
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
    /// - Parameter report: is called with each error that does not end the scan, if the source reports such.
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
