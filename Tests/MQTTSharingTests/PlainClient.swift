import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import MQTTSharing

/// A client that publishes and reads any messages, over the package's own link.
struct PlainClient: Sendable {
    private let link: MQTTLink
    private let events: AsyncStream<MQTTLinkEvent>

    /// Connects and subscribes, and waits until the broker has granted the subscriptions.
    init(port: UInt16, filter: String = "#") async throws {
        try await self.init(MQTTBroker(host: "127.0.0.1", port: port), filter: filter)
    }

    /// Connects to a broker, with any credentials.
    init(_ broker: MQTTBroker, filter: String) async throws {
        let name = "plain" + String(UInt64.random(in: .min ... .max), radix: 36)
        (link, events) = MQTTLink.open(
            broker, clientID: name, will: nil, keepAliveSeconds: 60)
        try await next("acceptance") { if case .accepted = $0 { true } else { nil } }
        link.ask(.subscribe(filter, .atLeastOnce))
        try await next("subscription") { if case .subscribed = $0 { true } else { nil } }
    }

    func publish(
        _ topic: String, _ payload: some Collection<UInt8>, isRetained: Bool = false,
        quality: MQTTMessage.Quality = .atLeastOnce
    ) {
        link.ask(
            .publish(MQTTMessage(topic: topic, payload: Array(payload), quality: quality, isRetained: isRetained)))
    }

    func publish(_ topic: String, _ text: String, isRetained: Bool = false) {
        publish(topic, Array(text.utf8), isRetained: isRetained)
    }

    /// Returns the next message under a topic.
    func message(_ topic: String) async throws -> MQTTMessage {
        try await next(topic) { event in
            if case .received(let message) = event, message.topic == topic { message } else { nil }
        }
    }

    /// Returns the topics of all messages up to a message under one topic, including that topic.
    func topics(until last: String) async throws -> Set<String> {
        var topics: Set<String> = []
        while !topics.contains(last) {
            topics.insert(
                try await next("any message") { event in
                    if case .received(let message) = event { message.topic } else { nil }
                })
        }
        return topics
    }

    func close() { link.ask(.close) }

    @discardableResult private func next<Value: Sendable>(
        _ awaited: String, _ telling: @escaping @Sendable (MQTTLinkEvent) -> Value?
    ) async throws -> Value {
        let events = events
        return try await Bounded.wait(for: awaited) {
            for await event in events {
                if let value = telling(event) { return value }
            }
            throw StageError("\(awaited): the link ended")
        }
    }
}
