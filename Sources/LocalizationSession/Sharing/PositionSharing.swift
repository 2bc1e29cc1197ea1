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
