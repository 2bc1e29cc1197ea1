import IndoorLocalization

/// Where a simulated person walks: points across the maps of a venue, with pauses, stairs and ways outdoors.
///
/// Between two points one walks straight at constant speed. Points on different maps are joined by stairs or by an
/// elevator: the height changes evenly on the way, and the map half way.
public struct WalkPath: Hashable, Sendable {
    /// How one gets from one map to the next.
    public enum FloorChange: String, Hashable, Sendable, CaseIterable {
        /// On foot.
        case stairs
        /// Standing still.
        case elevator
    }

    /// A place on the way.
    public struct Point: Hashable, Sendable {
        /// The map whose frame `point` is in.
        public var mapID: MapID
        /// Where on that map; outdoors it may lie beyond the plan's edges.
        public var point: MapPoint
        /// Seconds that one stands there, 0 or above.
        public var pause: Double
        /// Course that one faces during the pause, in degrees clockwise from the plan's top; nil: as one came.
        public var heading: Double?
        /// Seconds that the way to this point takes, above 0; nil: as the speed tells.
        public var seconds: Double?
        /// Speed on the way to this point in m/s, above 0; nil: the path's.
        public var speed: Double?
        /// Whether the place lies under the open sky. A way is outdoors if one of its ends is.
        public var isOutdoors: Bool
        /// How the map changes on the way to this point; of no meaning if it doesn't.
        public var floorChange: FloorChange

        /// Creates a place on the way.
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

    /// The name for people; nil if it has none.
    public var name: String?
    /// Walking speed in m/s, above 0.
    public var speed: Double
    /// The places, in the order of the walk; at least one.
    public var points: [Point]

    /// A usual walking speed in buildings, in m/s.
    ///
    /// Source: R. W. Bohannon, *Comfortable and maximum walking speed of adults aged 20–79 years*, Age and Ageing
    /// 26, 1997: 1.3 to 1.45 m/s on a free course; less where doors and corners are.
    public static let usualSpeed = 1.2

    /// Creates a path, checked when it is simulated.
    public init(name: String? = nil, speed: Double = WalkPath.usualSpeed, points: [Point]) {
        self.name = name
        self.speed = speed
        self.points = points
    }
}
