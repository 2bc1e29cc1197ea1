import IndoorVocabulary

/// An event of position sharing.
public enum SharingEvent: Hashable, Sendable {
    /// The device connected to the server.
    case connected
    /// The device lost the server or disconnected. The reason is human-readable.
    case disconnected(reason: String)
    /// This device joined a room.
    case joined(room: String)
    /// This device left a room.
    case left(room: String)
    /// Another device shared its position.
    case position(SharedPosition)
    /// Another device sent a text.
    case message(SharedMessage)
    /// The number of devices in a room, including this one if it has joined.
    case occupancy(room: String, devices: Int)
    /// This device had to leave a room because the room has reached its capacity.
    case roomFull(room: String, capacity: Int)
    /// The server accepts no more devices.
    case serverFull
    /// An operation failed. The error describes the problem and its remedy.
    case failed(LocalizationError)
}

/// The reason that a text isn't a valid name of a device or a room.
public enum SharingNameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name is empty.
    case empty
    /// The name has more than 64 Unicode scalars.
    case tooLong(count: Int)
    /// The name contains a character that isn't allowed, or isn't allowed at its position.
    case forbidden(Unicode.Scalar, name: String)

    /// The maximum length of a name in Unicode scalars.
    package static let longest = 64

    /// Creates the error of a name; nil if the name is valid.
    ///
    /// Source: *MQTT Version 5.0*, OASIS 2019, 4.7: topic names and topic filters.
    package init?(of name: String) {
        let scalars = name.unicodeScalars
        if scalars.isEmpty {
            self = .empty
        } else if scalars.count > Self.longest {
            self = .tooLong(count: scalars.count)
        } else if let scalar = scalars.first(where: Self.isForbidden) ?? (scalars.first == "$" ? "$" : nil) {
            self = .forbidden(scalar, name: name)
        } else {
            return nil
        }
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "/", "+", "#": true
        default:
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
                || scalar.properties.isNoncharacterCodePoint
        }
    }

    public var description: String {
        switch self {
        case .empty: "the name of a device or room must not be empty; it needs 1 to \(Self.longest) characters"
        case .tooLong(let count):
            "the name of a device or room has \(count) characters; at most \(Self.longest) are allowed"
        case .forbidden("$", let name):
            "the name \"\(name)\" begins with \"$\", which is reserved for brokers; begin it with another character"
        case .forbidden(let scalar, let name) where scalar.value < 0x20 || scalar.value > 0x7E:
            "the name contains U+\(String(scalar.value, radix: 16, uppercase: true)), which no device or room may "
                + "have (the rest is \"\(String(name.unicodeScalars.filter { !Self.isForbidden($0) }))\")"
        case .forbidden(let scalar, let name):
            "the name \"\(name)\" contains \"\(scalar)\"; names of devices and rooms must not contain /, + or #"
        }
    }
}
