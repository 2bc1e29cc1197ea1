import IndoorVocabulary

/// An estimated position of the device.
public struct Position: Hashable, Sendable {
    /// The time of the position.
    public var instant: Instant
    /// The venue that the device is in.
    public var venueID: VenueID
    /// The map that the device is on.
    public var mapID: MapID
    /// The point on the map, in metres.
    public var point: MapPoint
    /// The 68 % error radius in metres: the true position lies within it 68 % of the time.
    public var radius: Double
    /// The covariance of the error of `point`; nil if unknown. On average, its 68 % ellipse is as large as the circle
    /// with `radius`.
    public var covariance: PositionCovariance?
    /// The name of the room that contains the point; nil if there is none.
    public var label: String?
    /// The rooms with a probability of at least 1 %, the most probable first. The probabilities sum to less than 1 if
    /// the device may be in no room or in a less probable room. Empty if the rooms of the venue have no shapes.
    public var rooms: [RoomProbability]
    /// The point in pixels of the plan's image; nil if the image size is unknown.
    public var pixel: PixelPoint?
    /// The coordinate of the point; nil if the map isn't georeferenced.
    public var coordinate: Coordinate?
    /// The direction of movement in degrees clockwise from the plan's top; nil while the device stands or if the
    /// direction is unknown.
    public var course: Double?
    /// The speed in metres per second; nil if unknown.
    public var speed: Double?
    /// The probability that the device is on this map, in [0, 1]; nil if unknown.
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

/// The probability that the device is in a room.
public struct RoomProbability: Hashable, Sendable {
    /// The ID of the room within its venue.
    public var id: Int
    /// The name of the room.
    public var name: String
    /// The probability in (0, 1].
    public var probability: Double

    /// Creates a probability of a room.
    public init(id: Int, name: String, probability: Double) {
        self.id = id
        self.name = name
        self.probability = probability
    }
}
