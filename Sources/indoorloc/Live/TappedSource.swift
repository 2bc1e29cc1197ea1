import IndoorLocalization

/// A source whose readings somebody else sees, too.
struct TappedSource<Source: ScanSource>: SteerableScanSource, ReportingScanSource {
    let source: Source
    let tap: @Sendable (SensorReading) -> Void

    var pace: ScanPace { source.pace }
    var wallClock: WallClock? { source.wallClock }
    var steering: ScanSteering? { (source as? any SteerableScanSource)?.steering }

    func readings() -> AsyncThrowingStream<SensorReading, any Error> { readings { _ in } }

    func readings(
        reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error> {
        .produced { continuation in
            for try await reading in source.beginReadings(reporting: report) {
                tap(reading)
                continuation.yield(reading)
            }
        }
    }
}
