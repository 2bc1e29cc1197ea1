/// A source that can lose a part of itself and go on: what was lost is an error that does not end its stream.
///
/// A ``Localizer`` tells such errors on ``Localizer/errors``.
public protocol ReportingScanSource: ScanSource {
    /// Begins to scan like `readings()`.
    ///
    /// - Parameter report: is told each error that the scan survives.
    func readings(
        reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error>
}

extension ScanSource {
    /// Begins to scan, and tells errors that the scan survives if the source has such.
    package func beginReadings(
        reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error> {
        (self as? any ReportingScanSource)?.readings(reporting: report) ?? readings()
    }
}
