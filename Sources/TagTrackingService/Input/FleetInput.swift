import IndoorVocabulary
import MQTTSharing
import TagTracking

/// The subscription to the messages of gateways on a broker.
///
/// The input connects, and reconnects with growing pauses.
package struct FleetInput: Sendable {
    /// An event of the input.
    package enum Event: Sendable {
        /// A message of a gateway, with its arrival.
        case message(GatewayMessage)
        /// The broker granted the subscriptions, or refused those of these filters.
        case connected(refused: [String])
        /// The connection failed or broke. The input connects again after the pause.
        case disconnected(MQTTSharingError, pause: Duration)
    }

    /// The time limit for the broker's answer.
    private static let patience = Duration.seconds(15)
    /// The largest packet, in bytes: a message of the largest size that `TagIntake` reads, and its topic.
    private static let largestPacket = (1 << 20) + (1 << 16)
    /// A connection of this duration resets the pauses.
    private static let stableTime = Duration.seconds(10)

    private let broker: MQTTBroker
    private let filters: [String]
    private let firstPause: Duration
    private let arrival: @Sendable (MQTTMessage) -> Instant?

    /// Creates an input.
    ///
    /// - Parameters:
    ///   - filters: the topic filters to subscribe to.
    ///   - firstPause: the pause before the first attempt to reconnect. It doubles for each further attempt, up to a
    ///     minute.
    ///   - arrival: returns the time of arrival of a message, counted from the Unix epoch; nil discards the message.
    package init(
        _ broker: MQTTBroker, filters: [String], firstPause: Duration = .seconds(1),
        arrival: @escaping @Sendable (MQTTMessage) -> Instant?
    ) {
        self.broker = broker
        self.filters = filters
        self.firstPause = firstPause
        self.arrival = arrival
    }

    /// Receives messages until the task is cancelled.
    ///
    /// - Parameter give: receives the events in their order; it must not block.
    package func run(_ give: @Sendable (Event) -> Void) async {
        var pause = firstPause
        while !Task.isCancelled {
            let start = ContinuousClock.now
            guard let error = await connect(give) else { return }
            if start.duration(to: .now) >= Self.stableTime { pause = firstPause }
            give(.disconnected(error, pause: pause))
            guard (try? await Task.sleep(for: pause)) != nil else { return }
            pause = min(pause * 2, .seconds(60))
        }
    }

    /// Receives messages over one connection; returns the error that ended it, or nil if the task was cancelled.
    private func connect(_ give: @Sendable (Event) -> Void) async -> MQTTSharingError? {
        // Each connection has a new name, because a broker ends an earlier connection with the same name.
        let name = "indoorloc" + String(UInt64.random(in: .min ... .max), radix: 36)
        let (link, events) = MQTTLink.open(
            broker, clientID: name, will: nil, keepAliveSeconds: 30, largestPacket: Self.largestPacket)
        let timeout = Task {
            guard (try? await Task.sleep(for: Self.patience)) != nil else { return }
            link.abandon()
        }
        defer { timeout.cancel() }
        var answered = 0
        var refused: [String] = []
        for await event in events {
            switch event {
            case .accepted:
                // QoS 0 is enough: a redelivered reading is worth less than the next one.
                for filter in filters { link.ask(.subscribe(filter, .atMostOnce)) }
            case .subscribed(let filter, let isGranted):
                answered += 1
                if !isGranted { refused.append(filter) }
                guard answered == filters.count else { continue }
                timeout.cancel()
                give(.connected(refused: refused))
            case .received(let message): receive(message, give)
            case .confirmed, .refused: break
            case .ended(let error): return error
            }
        }
        guard !Task.isCancelled else {
            link.ask(.close)
            return nil
        }
        if answered == filters.count { return .overrun(host: broker.host) }
        return .noAnswer(
            host: broker.host, port: broker.port,
            to: answered == 0 ? "to the connection request" : "to the subscription")
    }

    private func receive(_ message: MQTTMessage, _ give: (Event) -> Void) {
        guard let arrival = arrival(message) else { return }
        give(
            .message(
                GatewayMessage(
                    topic: message.topic, payload: message.payload, arrival: arrival, isRetained: message.isRetained)))
    }
}

/// A bounded queue between the threads that receive messages and the service that handles them.
///
/// New messages that don't fit are lost and counted, so that the memory of a service that is too slow doesn't grow.
package final class MessageQueue: Sendable {
    private struct Content {
        var messages: [GatewayMessage] = []
        var bytes = 0
        var lost = 0
    }

    /// The memory of a message in bytes in addition to topic and payload. It counts towards the capacity, so that many
    /// short messages need no more memory than few long ones.
    private static let overhead = 128

    /// The capacity in bytes, by default enough for several seconds of messages about 100,000 tags.
    private let capacity: Int
    private let content = Guarded(Content())

    /// Creates a queue.
    ///
    /// - Parameter capacity: the capacity in bytes of topics and payloads, with 128 bytes for each message.
    package init(capacity: Int = 64 << 20) { self.capacity = capacity }

    /// Appends a message, or counts it as lost.
    package func append(_ message: GatewayMessage) {
        if !offer(message) { content.withLock { $0.lost += 1 } }
    }

    /// Appends a message of a sender that can repeat it; returns false if it doesn't fit.
    package func offer(_ message: GatewayMessage) -> Bool {
        let size = message.topic.utf8.count + message.payload.count + Self.overhead
        return content.withLock { content in
            guard content.bytes + size <= capacity else { return false }
            content.bytes += size
            content.messages.append(message)
            return true
        }
    }

    /// Removes and returns all messages in the order of their arrival, and the number of messages lost since the last
    /// call.
    package func drain() -> (messages: [GatewayMessage], lost: Int) {
        content.withLock { content in
            defer { content = Content() }
            return (content.messages, content.lost)
        }
    }
}
