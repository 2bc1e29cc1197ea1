import IndoorVocabulary
import VenueModel

/// Where a device is, as it tells the others in its room.
public struct SharedPosition: Hashable, Sendable {
    /// The device that is there.
    public var device: DeviceID
    /// The device's name for people; nil if it has none.
    public var name: String?
    /// The room of devices that it was told in, which is no room of a venue.
    public var room: String
    /// The venue that the device is in.
    public var venueID: VenueID
    /// The map that the device is on.
    public var mapID: MapID
    /// Ordinal of the floor, 0 being the ground floor; nil if the device does not tell.
    public var level: Int?
    /// Metres to the right of the plan's left edge.
    public var x: Double
    /// Metres below the plan's top edge.
    public var y: Double
    /// Metres around the point within which the truth lies 68 times of 100.
    public var radius: Double
    /// Name of the venue's room that contains the point; nil if there is none.
    public var label: String?
    /// The same point on Earth; nil if the map is not georeferenced.
    public var coordinate: Coordinate?
    /// Where the device moves, in degrees clockwise from the plan's top, in [0, 360); nil while it stands or is unclear.
    public var course: Double?
    /// When it was told, in seconds since 1970 (UTC), by the sender's clock.
    public var sentAt: Double

    /// Creates a shared position from its parts, unchecked; see `isValid`.
    public init(
        device: DeviceID, name: String? = nil, room: String, venueID: VenueID, mapID: MapID, level: Int? = nil,
        x: Double, y: Double, radius: Double, label: String? = nil, coordinate: Coordinate? = nil,
        course: Double? = nil, sentAt: Double
    ) {
        self.device = device
        self.name = name
        self.room = room
        self.venueID = venueID
        self.mapID = mapID
        self.level = level
        self.x = x
        self.y = y
        self.radius = radius
        self.label = label
        self.coordinate = coordinate
        self.course = course
        self.sentAt = sentAt
    }

    /// Creates what a device tells of its own position.
    ///
    /// - Parameters:
    ///   - position: where the device is.
    ///   - device: the device that is there.
    ///   - name: the device's name for people; nil if it has none.
    ///   - room: the room of devices that it is told in.
    ///   - level: of the position's map, where the sender knows its venue.
    ///   - sentAt: seconds since 1970 (UTC).
    public init(
        _ position: Position, of device: DeviceID, name: String? = nil, in room: String, level: Int? = nil,
        sentAt: Double
    ) {
        self.init(
            device: device, name: name, room: room, venueID: position.venueID, mapID: position.mapID, level: level,
            x: position.x, y: position.y, radius: position.radius, label: position.label,
            coordinate: position.coordinate, course: position.course, sentAt: sentAt)
    }

    /// Where on the map, in metres.
    public var point: MapPoint { MapPoint(x: x, y: y) }

    /// Whether the room has a name and all numbers are within their ranges: whoever reads one from outside asks this.
    public var isValid: Bool { problem == nil }
}
