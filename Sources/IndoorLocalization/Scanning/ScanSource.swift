/// Where sensor readings come from: a radio, a recording, a simulator.
public protocol ScanSource: Sendable {
    /// Whether time passes by itself or with the readings.
    var pace: ScanPace { get }

    /// Begins to scan and returns what is sensed, ordered by instant, until the scan ends or is cancelled.
    ///
    /// The sequence throws what made the scan impossible. Each call begins a scan of its own.
    func readings() -> AsyncThrowingStream<SensorReading, any Error>
}

/// How a source's time passes.
public enum ScanPace: Hashable, Sendable {
    /// Readings arrive as they happen; silence is time passing too.
    case live
    /// Readings are taken as fast as they are wanted; only their instants tell the time.
    case recorded
}
