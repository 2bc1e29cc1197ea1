/// A message under a topic.
package struct MQTTMessage: Hashable, Sendable {
    /// The quality of service of a message.
    package enum Quality: Int32, Hashable, Sendable {
        /// The message arrives once or, if a connection breaks, not at all (QoS 0).
        case atMostOnce = 0
        /// The message arrives once or several times (QoS 1).
        case atLeastOnce = 1
    }

    /// The topic's name.
    package var topic: String
    /// The content. A retained message with empty content removes the topic's retained message.
    package var payload: [UInt8]
    /// The quality of service.
    package var quality: Quality
    /// Whether the broker retains the message for later subscribers. For a received message: whether it was retained.
    package var isRetained: Bool

    /// Creates a message.
    package init(topic: String, payload: [UInt8], quality: Quality = .atLeastOnce, isRetained: Bool = false) {
        self.topic = topic
        self.payload = payload
        self.quality = quality
        self.isRetained = isRetained
    }
}
