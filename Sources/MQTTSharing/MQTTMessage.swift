/// What is published under a topic.
public struct MQTTMessage: Hashable, Sendable {
    /// How surely a message arrives.
    public enum Quality: Int32, Hashable, Sendable {
        /// Once or, when a connection breaks, not at all (QoS 0).
        case atMostOnce = 0
        /// Once or several times (QoS 1).
        case atLeastOnce = 1
    }

    /// The topic's name.
    public var topic: String
    /// The content; an empty one that is retained removes what the broker keeps under the topic.
    public var payload: [UInt8]
    /// How surely it arrives.
    public var quality: Quality
    /// Whether the broker keeps it for later subscribers. Of a message that came: whether it was kept.
    public var isRetained: Bool

    /// Creates a message.
    public init(topic: String, payload: [UInt8], quality: Quality = .atLeastOnce, isRetained: Bool = false) {
        self.topic = topic
        self.payload = payload
        self.quality = quality
        self.isRetained = isRetained
    }
}
