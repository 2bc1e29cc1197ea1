import VenueModel

/// Shares positions and texts with other devices: over a broker, over a network, or within one program.
///
/// A device is in any number of rooms; what it shares goes to all that are in one of them. Rooms are named as devices are,
/// see `DeviceID`. Whatever a method throws says what to do; what fails later is a `SharingEvent.failed`.
///
/// Over a `some PositionSharing` errors are of its `Failure`; over an `any PositionSharing`, of any type.
public protocol PositionSharing: Sendable {
    /// Why something cannot be shared, of one type for all methods: what was wrong, and what to do about it.
    ///
    /// Swift infers it where all methods throw the same: `any Error` of those that tell no type, `Never` where none throws.
    /// Where some throw and others never do, write it down: `typealias Failure = …`.
    associatedtype Failure: Error

    /// Reaches the server, and keeps the connection: when it breaks, it is made anew and the rooms are joined again.
    ///
    /// Does nothing if the connection is there.
    ///
    /// - Throws: why the server cannot be had.
    func connect() async throws(Failure)

    /// Leaves all rooms and the server. Does nothing without a connection.
    func disconnect() async

    /// Enters a room: from now on, positions and texts of the others in it arrive.
    ///
    /// - Throws: why this device cannot be in it, also that it is no name of a room; see `SharingNameError`.
    func join(_ room: String) async throws(Failure)

    /// Leaves a room; does nothing if this device is not in it.
    func leave(_ room: String) async throws(Failure)

    /// Tells where this device is to all rooms that it is in.
    func share(_ position: Position) async throws(Failure)

    /// Tells where this device is, with the level that the position alone does not know.
    ///
    /// Whatever does not tell levels can leave this out: then the position is told as it is.
    /// - Parameters:
    ///   - position: where this device is.
    ///   - level: ordinal of the position's floor, as `VenueMap.level`; nil where that is not known.
    func share(_ position: Position, level: Int?) async throws(Failure)

    /// Sends a text to a room that this device is in.
    ///
    /// - Parameters:
    ///   - text: what is said.
    ///   - tag: what it is about.
    ///   - room: whose devices are to get it.
    func send(_ text: String, tag: String, to room: String) async throws(Failure)

    /// What happens from now on. Each call gives a stream of its own; of events that nobody takes, the newest are kept.
    var events: AsyncStream<SharingEvent> { get }
}

extension PositionSharing {
    /// Tells the position without its level.
    public func share(_ position: Position, level: Int?) async throws(Failure) { try await share(position) }
}
