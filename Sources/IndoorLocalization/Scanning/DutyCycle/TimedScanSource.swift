/// A source whose radio can be told how much of the time it listens.
public protocol TimedScanSource: ScanSource {
    /// Begins to scan like `readings()`, with that timing instead of the source's own.
    func readings(timing: ScanTiming) -> AsyncThrowingStream<SensorReading, any Error>
}

extension ScanSource {
    /// Begins to scan, with that timing if there is one and the source can be told.
    package func beginReadings(timing: ScanTiming?) -> AsyncThrowingStream<SensorReading, any Error> {
        guard let timing, let timed = self as? any TimedScanSource else { return readings() }
        return timed.readings(timing: timing)
    }
}
