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
    /// - Parameters:
    ///   - position: The position of the device.
    ///   - device: The device at the position.
    ///   - name: The display name of the device; nil if it has none.
    ///   - room: The room of devices in which the position is shared.
    ///   - level: The level of the position's map; nil if the sender doesn't know it.
    ///   - sentAt: The time of sharing in seconds since 1970 (UTC).
    package init(
        _ position: Position, of device: DeviceID, name: String? = nil, in room: String, level: Int? = nil,
        sentAt: Double
    ) {
        self.init(
            device: device, name: name, room: room, venueID: position.venueID, mapID: position.mapID, level: level,
            x: position.x, y: position.y, radius: position.radius, label: position.label,
            coordinate: position.coordinate, course: position.course, sentAt: sentAt)
    }

    /// The point on the map, in metres.
    package var point: MapPoint { MapPoint(x: x, y: y) }

    /// Whether the room name and all numbers are valid. Check this property after reading a position from an external
    /// source.
    package var isValid: Bool { problem == nil }
}

/// The reason that a position can't be shared.
public enum SharedPositionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the room is invalid.
    case badRoom(SharingNameError)
    /// A number is NaN or out of range. The field has the same name as in `SharedPosition` and `Coordinate`.
    case outOfRange(field: String, value: Double)

    public var description: String {
        switch self {
        case .badRoom(let error): "\(error)"
        case .outOfRange(let field, let value):
            "\(field) is \(value), which is out of range: give \(Self.range(of: field))"
        }
    }

    private static func range(of field: String) -> String {
        switch field {
        case "radius": "metres from 0 on"
        case "latitude": "degrees in [-90, 90]"
        case "longitude": "degrees in [-180, 180]"
        case "course": "degrees in [0, 360), or none"
        case "sentAt": "seconds since 1970"
        default: "metres on the plan"
        }
    }
}

extension SharedPosition {
    /// The problem with the room name or a number that prevents sharing; nil if there is none.
    public var problem: SharedPositionError? {
        if let error = SharingNameError(of: room) { return .badRoom(error) }
        var numbers: [(field: String, value: Double, isRight: Bool)] = [
            ("x", x, x.isFinite), ("y", y, y.isFinite), ("radius", radius, radius.isFinite && radius >= 0),
            ("sentAt", sentAt, sentAt.isFinite),
        ]
        if let coordinate {
            numbers.append(("latitude", coordinate.latitude, (-90...90).contains(coordinate.latitude)))
            numbers.append(("longitude", coordinate.longitude, (-180...180).contains(coordinate.longitude)))
        }
        if let course { numbers.append(("course", course, course >= 0 && course < 360)) }
        return numbers.first { !$0.isRight }.map { .outOfRange(field: $0.field, value: $0.value) }
    }
}

/// A text that one device sends to the others in a room.
public struct SharedMessage: Hashable, Sendable {
    /// The device that sent it.
    public var device: DeviceID
    /// The room that it was sent to.
    public var room: String
    /// The topic of the text, which receivers can use as a filter. Can be any text, including an empty one.
    public var tag: String
    /// The text.
    public var text: String
    /// The time of sending in seconds since 1970 (UTC), by the sender's clock.
    public var sentAt: Double

    /// Creates a message.
    public init(device: DeviceID, room: String, tag: String, text: String, sentAt: Double) {
        self.device = device
        self.room = room
        self.tag = tag
        self.text = text
        self.sentAt = sentAt
    }
}

/// The name of a device that shares its position, such as `forklift-7`.
///
/// A name has 1 to 64 Unicode scalars. It must not contain control characters or `/`, `+` and `#`, which are separators
/// and wildcards in MQTT topics, and must not begin with `$`, which is reserved for brokers.
public struct DeviceID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name.
    public let rawValue: String

    /// Creates an ID from a name; nil if the name is invalid. `init(_:)` throws the reason.
    public init?(rawValue: String) {
        guard SharingNameError(of: rawValue) == nil else { return nil }
        self.rawValue = rawValue
    }

    /// Creates an ID from a name.
    ///
    /// - Throws: `SharingNameError` if the name is invalid.
    public init(_ name: String) throws(SharingNameError) {
        if let error = SharingNameError(of: name) { throw error }
        rawValue = name
    }

    public var description: String { rawValue }

    public static func < (left: DeviceID, right: DeviceID) -> Bool { left.rawValue < right.rawValue }
}
