import IndoorVocabulary
import VenueModel

/// A position that a device shares with the other devices in a room.
public struct SharedPosition: Hashable, Sendable {
    /// The device that is there.
    public var device: DeviceID
    /// The display name of the device; nil if it has none.
    public var name: String?
    /// The room of devices in which the position was shared, which is unrelated to the rooms of a venue.
    public var room: String
    /// The venue that the device is in.
    public var venueID: VenueID
    /// The map that the device is on.
    public var mapID: MapID
    /// The ordinal of the floor, with 0 for the ground floor; nil if the device doesn't share it.
    public var level: Int?
    /// Metres to the right of the plan's left edge.
    public var x: Double
    /// Metres below the plan's top edge.
    public var y: Double
    /// The 68 % radius in metres.
    public var radius: Double
    /// The name of the venue's room that contains the point; nil if there is none.
    public var label: String?
    /// The coordinate of the point; nil if the map isn't georeferenced.
    public var coordinate: Coordinate?
    /// The direction of movement in degrees clockwise from the plan's top, in [0, 360); nil while the device stands or
    /// if the direction is unknown.
    public var course: Double?
    /// The time of sharing in seconds since 1970 (UTC), by the sender's clock.
    public var sentAt: Double

    /// Creates a shared position from its parts without checking them; see `isValid`.
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

    /// Creates a shared position from a position of a device.
    ///
    /// - Parameters: - position: The position of the device. - device: The device at the position. - name: The display
    ///   name of the device; nil if it has none. - room: The room of devices in which the position is shared. - level:
    ///   The level of the position's map; nil if the sender doesn't know it. - sentAt: The time of sharing in seconds
    ///   since 1970 (UTC).
    public init(
        _ position: Position, of device: DeviceID, name: String? = nil, in room: String, level: Int? = nil,
        sentAt: Double
    ) {
        self.init(
            device: device, name: name, room: room, venueID: position.venueID, mapID: position.mapID, level: level,
            x: position.x, y: position.y, radius: position.radius, label: position.label,
            coordinate: position.coordinate, course: position.course, sentAt: sentAt)
    }

    /// The point on the map, in metres.
    public var point: MapPoint { MapPoint(x: x, y: y) }

    /// Whether the room name and all numbers are valid. Check this property after reading a position from an external
    /// source.
    public var isValid: Bool { problem == nil }
}
