import IndoorVocabulary

/// Something that happened among devices that share their positions.
public enum SharingEvent: Hashable, Sendable {
    /// The server was reached.
    case connected
    /// The server is out of reach, or was left on purpose; the reason is for people.
    case disconnected(reason: String)
    /// This device is in a room from now on.
    case joined(room: String)
    /// This device is in a room no more.
    case left(room: String)
    /// Another device told where it is.
    case position(SharedPosition)
    /// Another device sent a text.
    case message(SharedMessage)
    /// So many devices are in a room, this one among them if it has joined.
    case occupancy(room: String, devices: Int)
    /// A room takes no more devices than `capacity`, and this one had to leave it.
    case roomFull(room: String, capacity: Int)
    /// The server takes no more devices.
    case serverFull
    /// Something failed; what, and what to do.
    case failed(LocalizationError)
}
