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
