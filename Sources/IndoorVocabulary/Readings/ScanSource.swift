/// Where sensor readings come from: a radio, a recording, a simulator.
public protocol ScanSource: Sendable {
    /// Whether time passes by itself or with the readings.
    var pace: ScanPace { get }

    /// How the source's instants relate to Unix time, as of now; nil if the source has no wall clock, which is the default.
    ///
    /// A live source measures it each time it is asked. A recording knows it once its first reading was read. A source that
    /// wraps another one forwards the other's.
    var wallClock: WallClock? { get }

    /// Begins to scan and returns what is sensed, ordered by instant, until the scan ends or is cancelled.
    ///
    /// The sequence throws what made the scan impossible. Each call begins a scan of its own.
    func readings() -> AsyncThrowingStream<SensorReading, any Error>
}

extension ScanSource {
    /// No wall clock.
    public var wallClock: WallClock? { nil }
}

/// How a source's time passes.
public enum ScanPace: Hashable, Sendable {
    /// Readings arrive as they happen; silence is time passing too.
    case live
    /// Readings are taken as fast as they are wanted; only their instants tell the time.
    case recorded
}
