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
