import IndoorVocabulary

/// The true position of the device at one instant: ground truth for surveys and scoring.
public struct Truth: Hashable, Sendable {
    /// The time of the position.
    public var instant: Instant
    /// The map that the device was on; nil if only the room is known.
    public var mapID: MapID?
    /// The position on that map, in metres; nil if only the room is known. Always nil without `mapID`.
    public var point: MapPoint?
    /// The name of the room that the device was in; nil if only the point is known.
    public var room: String?
    /// Whether the device stayed there until the next ground truth.
    ///
    /// Otherwise this is a waypoint: the device moved in a straight line at constant speed between waypoints.
    public var isHold: Bool

    /// Creates a ground truth. A point requires a map, and at least one of `point` and `room` is required.
    public init(
        instant: Instant, mapID: MapID? = nil, point: MapPoint? = nil, room: String? = nil, isHold: Bool = false
    ) {
        self.instant = instant
        self.mapID = mapID
        self.point = point
        self.room = room
        self.isHold = isHold
    }
}
