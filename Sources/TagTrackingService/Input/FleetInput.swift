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

    /// The largest packet, in bytes: a message of the largest size that `TagIntake` reads, and its topic.
    private static let largestPacket = (1 << 20) + (1 << 16)

    private let link: ReconnectingLink
    private let arrival: @Sendable (MQTTMessage) -> Instant?

    /// Creates an input.
    ///
    /// - Parameters:
    ///   - filters: the topic filters to subscribe to.
    ///   - firstPause: the longest pause before the first attempt to reconnect. It doubles for each further attempt, up
    ///     to a minute.
    ///   - arrival: returns the time of arrival of a message, counted from the Unix epoch; nil discards the message.
    package init(
        _ broker: MQTTBroker, filters: [String], firstPause: Duration = .seconds(1),
        arrival: @escaping @Sendable (MQTTMessage) -> Instant?
    ) {
        var link = ReconnectingLink(broker, clientIDPrefix: "indoorloc", largestPacket: Self.largestPacket)
        // QoS 0 is enough: a redelivered reading is worth less than the next one.
        link.subscription = .init(filters, .atMostOnce)
        link.firstPause = firstPause
        self.link = link
        self.arrival = arrival
    }

    /// Receives messages until the task is cancelled.
    ///
    /// - Parameter give: receives the events in their order; it must not block.
    package func run(_ give: @Sendable (Event) -> Void) async {
        await link.run { event in
            switch event {
            case .connected(let refused): give(.connected(refused: refused))
            case .disconnected(let error, let pause): give(.disconnected(error, pause: pause))
            case .link(.received(let message)):
                guard let arrival = arrival(message) else { return }
                give(
                    .message(
                        GatewayMessage(
                            topic: message.topic, payload: message.payload, arrival: arrival,
                            isRetained: message.isRetained)))
            case .opening, .link: break
            }
        }
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
        /// The number of messages that were taken so far.
        var count: UInt64 = 0
    }

    /// The ways by which messages have come.
    private struct Ways {
        var hasAppended = false
        var hasOffered = false
    }

    /// The memory of a message in bytes in addition to topic and payload. It counts towards the capacity, so that many
    /// short messages need no more memory than few long ones.
    private static let overhead = 128

    /// The capacity in bytes, by default enough for several seconds of messages about 100,000 tags.
    private let capacity: Int
    private let content = Guarded(Content())
    private let ways = Guarded(Ways())

    /// Creates a queue.
    ///
    /// - Parameter capacity: the capacity in bytes of topics and payloads, with 128 bytes for each message.
    package init(capacity: Int = 64 << 20) { self.capacity = capacity }

    /// Whether all messages so far are those of senders that can repeat them, and there are any.
    package var hasOnlyOffers: Bool { ways.withLock { $0.hasOffered && !$0.hasAppended } }

    /// The number of messages that the queue has taken so far.
    package var count: UInt64 { content.withLock(\.count) }

    /// Appends a message, or counts it as lost.
    package func append(_ message: GatewayMessage) {
        // A retained message says nothing about the gateways of now.
        if !message.isRetained { ways.withLock { $0.hasAppended = true } }
        if !add(message) { content.withLock { $0.lost += 1 } }
    }

    /// Appends a message of a sender that can repeat it; returns false if it doesn't fit.
    package func offer(_ message: GatewayMessage) -> Bool {
        ways.withLock { $0.hasOffered = true }
        return add(message)
    }

    private func add(_ message: GatewayMessage) -> Bool {
        let size = message.topic.utf8.count + message.payload.count + Self.overhead
        return content.withLock { content in
            guard content.bytes + size <= capacity else { return false }
            content.bytes += size
            content.count += 1
            content.messages.append(message)
            return true
        }
    }

    /// Removes and returns all messages in the order of their arrival, with the number of messages that were taken before
    /// them, and of those lost since the last call.
    package func drain() -> (messages: [GatewayMessage], first: UInt64, lost: Int) {
        content.withLock { content in
            defer { content = Content(count: content.count) }
            return (content.messages, content.count - UInt64(content.messages.count), content.lost)
        }
    }
}
