import IndoorVocabulary

/// A satellite position of the device, used while no floor is known.
public struct OutdoorPosition: Hashable, Sendable {
    /// The time of the position.
    public var instant: Instant
    /// The coordinate of the device.
    public var coordinate: Coordinate
    /// The 68 % error radius in metres.
    public var radius: Double
    /// The altitude in metres above the WGS84 ellipsoid; nil if unknown.
    public var altitude: Double?
    /// The speed over ground in metres per second; nil if unknown.
    public var speed: Double?
    /// The direction of movement in degrees clockwise from true north, in [0, 360); nil if unknown.
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
