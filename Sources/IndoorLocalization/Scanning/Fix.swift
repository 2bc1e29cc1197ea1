/// A position on a map given from outside: by the user, a door, another system.
public struct Fix: Hashable, Sendable {
    /// When it was valid.
    public var instant: Instant
    /// The map that the point lies on.
    public var mapID: MapID
    /// Where.
    public var point: MapPoint
    /// 68 % radius in metres, above 0.
    public var radius: Double

    /// Creates a fix.
    public init(instant: Instant, mapID: MapID, point: MapPoint, radius: Double) {
        self.instant = instant
        self.mapID = mapID
        self.point = point
        self.radius = radius
    }
}
