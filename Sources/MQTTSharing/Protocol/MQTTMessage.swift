/// A message under a topic.
public struct MQTTMessage: Hashable, Sendable {
    /// The quality of service of a message.
    public enum Quality: Int32, Hashable, Sendable {
        /// The message arrives once or, if a connection breaks, not at all (QoS 0).
        case atMostOnce = 0
        /// The message arrives once or several times (QoS 1).
        case atLeastOnce = 1
    }

    /// The topic's name.
    public var topic: String
    /// The content. A retained message with empty content removes the topic's retained message.
    public var payload: [UInt8]
    /// The quality of service.
    public var quality: Quality
    /// Whether the broker retains the message for later subscribers. For a received message: whether it was retained.
    public var isRetained: Bool

    /// Creates a message.
    public init(topic: String, payload: [UInt8], quality: Quality = .atLeastOnce, isRetained: Bool = false) {
        self.topic = topic
        self.payload = payload
        self.quality = quality
        self.isRetained = isRetained
    }
}
