import IndoorVocabulary

/// Where the device is, as far as the session knows.
public struct Position: Hashable, Sendable {
    /// When the device was there.
    public var instant: Instant
    /// The venue that the device is in.
    public var venueID: VenueID
    /// The map that the device is on.
    public var mapID: MapID
    /// Where on that map, in metres.
    public var point: MapPoint
    /// Metres around `point` within which the truth lies 68 times of 100.
    public var radius: Double
    /// Covariance of the error of `point`; nil if nobody tells. Its 68 % ellipse is as wide, on average, as `radius`.
    public var covariance: PositionCovariance?
    /// Name of the room that contains the point; nil if there is none.
    public var label: String?
    /// The rooms that the device may be in, the most probable first, of those with at least 1 %. What they lack of 1 is the
    /// probability of no room, or of a less probable one. Empty if the venue's rooms have no shapes.
    public var rooms: [RoomProbability]
    /// The same point in the plan's pixels; nil if the image's size is unknown.
    public var pixel: PixelPoint?
    /// The same point on Earth; nil if the map is not georeferenced.
    public var coordinate: Coordinate?
    /// Where the device moves, in degrees clockwise from the plan's top; nil while it stands or when it is unclear.
    public var course: Double?
    /// How fast the device moves, in metres per second; nil if unknown.
    public var speed: Double?
    /// How sure it is that the device is on this map and not on another one, in [0, 1]; nil if nobody tells.
    public var floorCertainty: Double?

    /// Metres to the right of the plan's left edge.
    public var x: Double { point.x }
    /// Metres below the plan's top edge.
    public var y: Double { point.y }

    /// Creates a position.
    public init(
        instant: Instant, venueID: VenueID, mapID: MapID, point: MapPoint, radius: Double,
        covariance: PositionCovariance? = nil, label: String? = nil, rooms: [RoomProbability] = [],
        pixel: PixelPoint? = nil, coordinate: Coordinate? = nil, course: Double? = nil, speed: Double? = nil,
        floorCertainty: Double? = nil
    ) {
        self.instant = instant
        self.venueID = venueID
        self.mapID = mapID
        self.point = point
        self.radius = radius
        self.covariance = covariance
        self.label = label
        self.rooms = rooms
        self.pixel = pixel
        self.coordinate = coordinate
        self.course = course
        self.speed = speed
        self.floorCertainty = floorCertainty
    }
}
