import IndoorVocabulary

/// A message of a gateway as it arrived.
public struct GatewayMessage: Hashable, Sendable {
    /// The topic, or the path of an HTTP request; empty if there is none.
    public var topic: String
    /// The content.
    public var payload: [UInt8]
    /// The time of arrival, counted from the Unix epoch, 1 January 1970, 0:00 UTC.
    public var arrival: Instant
    /// Whether a broker stored the message and sent it at the subscription. Such a message can have any age.
    public var isRetained: Bool

    /// Creates a message.
    public init(topic: String, payload: [UInt8], arrival: Instant, isRetained: Bool = false) {
        self.topic = topic
        self.payload = payload
        self.arrival = arrival
        self.isRetained = isRetained
    }
}
