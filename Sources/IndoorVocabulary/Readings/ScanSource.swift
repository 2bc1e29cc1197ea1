/// A source of sensor readings: a radio, a recording or a simulator.
public protocol ScanSource: Sendable {
    /// Whether time passes by itself or with the readings.
    var pace: ScanPace { get }

    /// The relation between the instants of the source and Unix time; nil without a wall clock, which is the default.
    ///
    /// A live source measures it at each access. A recording has it from its first reading on. A source that wraps another one
    /// forwards that of the other.
    var wallClock: WallClock? { get }

    /// Begins to scan and returns the readings, ordered by instant, until the scan ends or is cancelled.
    ///
    /// The stream throws the error that ended the scan. Each call begins a scan of its own.
    func readings() -> AsyncThrowingStream<SensorReading, any Error>
}

extension ScanSource {
    /// No wall clock.
    public var wallClock: WallClock? { nil }
}

/// The clock of a source.
public enum ScanPace: Hashable, Sendable {
    /// Readings arrive as they happen. Time passes between them too.
    case live
    /// Readings arrive as fast as they are fetched. Time passes with their instants only.
    case recorded
}
