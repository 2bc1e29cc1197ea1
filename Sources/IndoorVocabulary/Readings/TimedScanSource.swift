/// A source whose radio can be told how much of the time it listens.
public protocol TimedScanSource: ScanSource {
    /// Begins to scan like `readings()`, with that timing instead of the source's own.
    func readings(timing: ScanTiming) -> AsyncThrowingStream<SensorReading, any Error>
}

/// A source around others, which hands on to them what it is told at the beginning.
package protocol WrappingScanSource: ReportingScanSource {
    /// Begins to scan; the timing is for the radio among the sources.
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
    /// Begins to scan, with that timing if there is one and the source can be told, and tells errors that the scan survives
    /// if the source has such.
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
