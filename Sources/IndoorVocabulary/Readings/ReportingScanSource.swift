/// A source that reports errors without ending its stream.
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
