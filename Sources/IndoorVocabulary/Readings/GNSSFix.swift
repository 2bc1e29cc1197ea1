/// A position from a satellite receiver.
public struct GNSSFix: Hashable, Sendable {
    /// The time of the position.
    public var instant: Instant
    /// The position.
    public var coordinate: Coordinate
    /// 68 % radius in metres.
    public var accuracy: Double
    /// Altitude above the WGS84 ellipsoid in metres; nil if unknown.
    public var altitude: Double?
    /// Speed over ground in metres per second; nil if unknown.
    public var speed: Double?
    /// Direction of movement in degrees clockwise from true north, in [0, 360); nil if unknown.
    public var course: Double?

    /// Creates a satellite position.
    public init(
        instant: Instant, coordinate: Coordinate, accuracy: Double, altitude: Double? = nil, speed: Double? = nil,
        course: Double? = nil
    ) {
        self.instant = instant
        self.coordinate = coordinate
        self.accuracy = accuracy
        self.altitude = altitude
        self.speed = speed
        self.course = course
    }

    /// Returns whether the position is usable: a valid coordinate with a 68 % radius of at most `limit` metres.
    package func isWithin(_ limit: Double) -> Bool { accuracy >= 0 && accuracy <= limit && coordinate.isValid }
}

/// A source of satellite positions in addition to the radio: a receiver, or a service that provides its positions.
///
/// A `Localizer` can use one in addition to its `ScanSource`. A recording contains satellite positions among its
/// readings, and needs no such source.
public protocol GNSSSource: Sendable {
    /// Begins to receive and returns positions, ordered by instant, until the receiver ends or is cancelled.
    ///
    /// The stream throws the error that ended the reception; a localizer reports it and starts again after a pause.
    /// Each call begins a separate reception. While the receiver has no position, the stream delivers nothing.
    ///
    /// Instants are on the clock of the scan. On Linux, live sources use CLOCK_BOOTTIME, which `ContinuousClock` reads.
    /// If a receiver has another clock, a localizer shifts its instants so that the first position has the current
    /// time.
    func fixes() -> AsyncThrowingStream<GNSSFix, any Error>
}
