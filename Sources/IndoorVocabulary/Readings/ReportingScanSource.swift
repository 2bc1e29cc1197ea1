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
