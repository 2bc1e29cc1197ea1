import IndoorVocabulary

/// The latest invalid message of a topic.
public struct IntakeProblem: Hashable, Sendable {
    /// The topic, which usually contains the name of the receiver.
    public var topic: String
    /// The time of arrival.
    public var arrival: Instant
    /// The error.
    public var error: GatewayError
    /// The number of invalid messages of the topic.
    public var count: Int

    /// Creates a problem.
    package init(topic: String, arrival: Instant, error: GatewayError, count: Int = 1) {
        self.topic = topic
        self.arrival = arrival
        self.error = error
        self.count = count
    }
}
