import IndoorVocabulary
import VenueModel

/// A service that shares positions and texts with other devices, through a broker, over a network, or within one
/// program.
///
/// A device can be in any number of rooms. The service sends shared positions to all devices in these rooms. Room names
/// follow the same rules as device names, see `DeviceID`. Each thrown error describes its remedy; later failures are
/// reported as `SharingEvent.failed`.
///
/// Through `some PositionSharing`, errors have the type `Failure`; through `any PositionSharing`, they have any type.
public protocol PositionSharing: Sendable {
    /// The error type of all methods. Errors describe the problem and its remedy.
    ///
    /// Swift infers this type if all methods throw the same type: `any Error` for untyped throws, `Never` if no method
    /// throws. If only some methods throw, declare it: `typealias Failure = …`.
    associatedtype Failure: Error

    /// Connects to the server. If the connection is lost, the service reconnects and joins the rooms again.
    ///
    /// Does nothing if already connected.
    ///
    /// - Throws: An error if the server is unavailable.
    func connect() async throws(Failure)

    /// Leaves all rooms and disconnects from the server. Does nothing without a connection.
    func disconnect() async

    /// Joins a room, and receives positions and texts of the other devices in the room.
    ///
    /// - Throws: An error if the device can't join the room, or if the name is invalid; see `SharingNameError`.
    func join(_ room: String) async throws(Failure)

    /// Leaves a room. Does nothing if this device isn't in the room.
    func leave(_ room: String) async throws(Failure)

    /// Shares the position of this device with all of its rooms.
    func share(_ position: Position) async throws(Failure)

    /// Shares the position of this device together with the level of its floor.
    ///
    /// The default implementation shares the position without the level.
    /// - Parameters:
    ///   - position: The position of this device.
    ///   - level: The ordinal of the floor, as in `VenueMap.level`; nil if unknown.
    func share(_ position: Position, level: Int?) async throws(Failure)

    /// Sends a text to a room that this device is in.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - tag: The topic of the text.
    ///   - room: The room whose devices receive the text.
    func send(_ text: String, tag: String, to room: String) async throws(Failure)

    /// The events from now on. Each access returns a separate stream. The stream buffers the newest events that the
    /// consumer hasn't read.
    var events: AsyncStream<SharingEvent> { get }
}

extension PositionSharing {
    /// Shares the position without its level.
    public func share(_ position: Position, level: Int?) async throws(Failure) { try await share(position) }
}

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
