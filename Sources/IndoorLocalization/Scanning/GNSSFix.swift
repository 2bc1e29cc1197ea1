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

    /// Creates a satellite position.
    public init(instant: Instant, coordinate: Coordinate, accuracy: Double, altitude: Double? = nil) {
        self.instant = instant
        self.coordinate = coordinate
        self.accuracy = accuracy
        self.altitude = altitude
    }
}
