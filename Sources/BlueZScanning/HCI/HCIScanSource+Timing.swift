import IndoorVocabulary

extension HCIScanSource: TimedScanSource {
    /// Begins to scan with that timing instead of `window` and `interval`.
    public func readings(timing: ScanTiming) -> AsyncThrowingStream<SensorReading, any Error> {
        with(timing).readings()
    }

    /// This source with another timing.
    package func with(_ timing: ScanTiming) -> HCIScanSource {
        var source = self
        source.window = timing.window
        source.interval = timing.interval
        return source
    }
}
