import IndoorVocabulary

/// Where the device is on Earth while no floor is known, as satellites see it.
public struct OutdoorPosition: Hashable, Sendable {
    /// When the device was there.
    public var instant: Instant
    /// Where it was.
    public var coordinate: Coordinate
    /// Metres around `coordinate` within which the truth lies 68 times of 100.
    public var radius: Double
    /// Metres above the WGS84 ellipsoid; nil if unknown.
    public var altitude: Double?
    /// Metres per second over ground; nil if unknown.
    public var speed: Double?
    /// Where the device moves, in degrees clockwise from true north, in [0, 360); nil if unknown.
    public var course: Double?

    /// Creates a position.
    public init(
        instant: Instant, coordinate: Coordinate, radius: Double, altitude: Double? = nil, speed: Double? = nil,
        course: Double? = nil
    ) {
        self.instant = instant
        self.coordinate = coordinate
        self.radius = radius
        self.altitude = altitude
        self.speed = speed
        self.course = course
    }
}
