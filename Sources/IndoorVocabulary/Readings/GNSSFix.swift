/// A position that a satellite receiver gave.
public struct GNSSFix: Hashable, Sendable {
    /// When it was valid.
    public var instant: Instant
    /// Where the receiver believes to be.
    public var coordinate: Coordinate
    /// 68 % radius in metres.
    public var accuracy: Double
    /// Metres above the WGS84 ellipsoid; nil if unknown.
    public var altitude: Double?
    /// Metres per second over ground; nil if unknown.
    public var speed: Double?
    /// Where the receiver moves, in degrees clockwise from true north, in [0, 360); nil if unknown.
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

    /// Whether it says anything at all: a place on Earth, with a 68 % radius of at most `limit` metres.
    package func isWithin(_ limit: Double) -> Bool { accuracy >= 0 && accuracy <= limit && coordinate.isValid }
}
