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
    /// Whether it is one witness among others, that may be wrong, as what the radio hears; otherwise it is believed.
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
