/// Where measurements come from: a radio, a recording, a simulator.
public protocol ScanSource: Sendable {
    /// Whether time passes by itself or with the measurements.
    var pace: ScanPace { get }

    /// Begins to scan and returns what is sensed, ordered by instant, until the scan ends or is cancelled.
    ///
    /// The sequence throws what made the scan impossible. Each call begins a scan of its own.
    func measurements() -> AsyncThrowingStream<Measurement, any Error>
}

/// How a source's time passes.
public enum ScanPace: Hashable, Sendable {
    /// Measurements arrive as they happen; silence is time passing too.
    case live
    /// Measurements are read as fast as they are wanted; only their instants tell the time.
    case recorded
}
