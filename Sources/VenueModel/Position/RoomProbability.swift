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
