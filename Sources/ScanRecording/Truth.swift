import IndoorVocabulary

/// Where the device really was: ground truth for surveys and scoring.
public struct Truth: Hashable, Sendable {
    /// When it was there.
    public var instant: Instant
    /// The map it was on; nil where only the room is known.
    public var mapID: MapID?
    /// Where on that map, in metres; nil where only the room is known. Never there without `mapID`.
    public var point: MapPoint?
    /// The name of the room it was in; nil where only the point is known.
    public var room: String?
    /// Whether the device stood there until the next truth.
    ///
    /// Otherwise this is a waypoint: between two of them the device walked straight at constant speed.
    public var isHold: Bool

    /// Creates a truth from its parts; a point needs a map, and one of `point` and `room` must be there.
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
