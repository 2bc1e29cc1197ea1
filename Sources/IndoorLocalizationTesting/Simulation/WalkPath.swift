import IndoorLocalization

/// The path of a simulated person: points across the maps of a venue, with pauses, stairs and outdoor legs.
///
/// Between two points the person walks in a straight line at constant speed. Stairs or an elevator join points on
/// different maps: the height changes evenly along the leg, and the map changes half way.
public struct WalkPath: Hashable, Sendable {
    /// The means of getting from one map to the next.
    public enum FloorChange: String, Hashable, Sendable, CaseIterable {
        /// On foot.
        case stairs
        /// Standing still.
        case elevator
    }

    /// A place on the path.
    public struct Point: Hashable, Sendable {
        /// The map whose frame `point` is in.
        public var mapID: MapID
        /// The position on that map; outdoors it may be outside the plan.
        public var point: MapPoint
        /// The time in seconds that the person stands there, 0 or above.
        public var pause: Double
        /// The heading during the pause, in degrees clockwise from the plan's top; nil for the direction of arrival.
        public var heading: Double?
        /// The duration in seconds of the leg to this point, above 0; nil if the speed determines it.
        public var seconds: Double?
        /// The speed on the leg to this point in m/s, above 0; nil for the path's speed.
        public var speed: Double?
        /// Whether the place is outdoors. A leg is outdoors if one of its ends is.
        public var isOutdoors: Bool
        /// The means of changing maps on the leg to this point; ignored if the map doesn't change.
        public var floorChange: FloorChange

        /// Creates a place on the path.
        public init(
            mapID: MapID, point: MapPoint, pause: Double = 0, heading: Double? = nil, seconds: Double? = nil,
            speed: Double? = nil, isOutdoors: Bool = false, floorChange: FloorChange = .stairs
        ) {
            self.mapID = mapID
            self.point = point
            self.pause = pause
            self.heading = heading
            self.seconds = seconds
            self.speed = speed
            self.isOutdoors = isOutdoors
            self.floorChange = floorChange
        }
    }

    /// A display name; nil if the path has none.
    public var name: String?
    /// The walking speed in m/s, above 0.
    public var speed: Double
    /// The places, in the order of the walk; at least one.
    public var points: [Point]

    /// A typical walking speed in buildings, in m/s.
    ///
    /// Source: R. W. Bohannon, *Comfortable and maximum walking speed of adults aged 20–79 years*, Age and Ageing
    /// 26, 1997: 1.3 to 1.45 m/s on a free course; slower near doors and corners.
    public static let usualSpeed = 1.2

    /// Creates a path. The simulator checks it.
    public init(name: String? = nil, speed: Double = WalkPath.usualSpeed, points: [Point]) {
        self.name = name
        self.speed = speed
        self.points = points
    }
}
