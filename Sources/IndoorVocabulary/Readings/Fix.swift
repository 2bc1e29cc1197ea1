/// A position on a map from outside the package: from the user, a door sensor or another system.
public struct Fix: Hashable, Sendable {
    /// The time of the position.
    public var instant: Instant
    /// The map that the point lies on.
    public var mapID: MapID
    /// The position.
    public var point: MapPoint
    /// 68 % radius in metres, above 0.
    public var radius: Double
    /// Whether the session combines the fix with its other evidence; if false, the fix replaces that evidence.
    public var isSoft: Bool

    /// Creates a fix.
    public init(instant: Instant, mapID: MapID, point: MapPoint, radius: Double, isSoft: Bool = false) {
        self.instant = instant
        self.mapID = mapID
        self.point = point
        self.radius = radius
        self.isSoft = isSoft
    }
}
