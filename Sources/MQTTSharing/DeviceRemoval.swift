import LocalizationSession

/// The removal of the messages that a broker retains for a device.
///
/// A broker also confirms messages that it discards because of its access list. To verify the removal, this type
/// subscribes to the topics: it first receives the retained messages, and then its own empty messages once the broker
/// has removed them.
struct DeviceRemoval: Sendable {
    /// The topics to clear, in order.
    let topics: [String]
    private var granted: Set<String> = []
    private var retained: Set<String> = []
    private var gone: Set<String> = []
    private var isAccepted = false

    private let broker: MQTTBroker

    init(_ device: DeviceID, on broker: MQTTBroker, settings: MQTTSharingSettings) {
        self.broker = broker
        let names = SharingTopics(prefix: settings.prefix)
        let homeAssistant = HomeAssistantDiscovery(
            prefix: settings.homeAssistantPrefix ?? HomeAssistantDiscovery.standardPrefix, device: device,
            locationTopic: names.name(.location(device)), presenceTopic: names.name(.presence(device)))
        topics =
            homeAssistant.removal.map(\.topic) + [names.name(.location(device)), names.name(.presence(device))]
    }

    /// The topics that had a retained message.
    var removed: [String] { topics.filter(retained.contains) }

    var isOver: Bool { gone.count == topics.count }

    /// The error to report if the broker sends nothing more.
    var failure: MQTTSharingError {
        if !isAccepted { return noAnswer(to: "to the connection request") }
        if granted.count < topics.count { return noAnswer(to: "to the subscription") }
        return .forbidden(topic: topics.first { !gone.contains($0) } ?? "")
    }

    private func noAnswer(to request: String) -> MQTTSharingError {
        .noAnswer(host: broker.host, port: broker.port, to: request)
    }

    /// Handles an event of the link, and returns the operations for the link.
    mutating func handle(_ event: MQTTLinkEvent) throws(MQTTSharingError) -> [MQTTLink.Operation] {
        switch event {
        case .accepted:
            isAccepted = true
            return topics.map { .subscribe($0, .atLeastOnce) }
        case .subscribed(let filter, let isGranted):
            guard isGranted else { throw .forbidden(topic: filter) }
            granted.insert(filter)
            guard granted.count == topics.count else { return [] }
            return topics.map { .publish(MQTTMessage(topic: $0, payload: [], isRetained: true)) }
        case .received(let message):
            if message.payload.isEmpty {
                gone.insert(message.topic)
            } else if message.isRetained {
                retained.insert(message.topic)
            }
            return []
        case .confirmed: return []
        case .refused(let topic, .notAuthorized, _): throw .forbidden(topic: topic)
        case .refused(let topic, let reason, _): throw .refusedMessage(topic: topic, reason: reason)
        case .ended(let error): throw error
        }
    }
}

extension MQTTPositionSharing {
    /// Removes a device from a broker, and so from Home Assistant, by clearing its retained messages.
    ///
    /// Stop the device first: a device that still shares publishes its messages again.
    /// - Parameters:
    ///   - device: The ID of the device.
    ///   - settings: The settings that the device shared with. Without a Home Assistant prefix, the standard prefix
    ///     applies.
    /// - Returns: The topics that had a retained message; empty if the device wasn't on the broker.
    /// - Throws: `MQTTSharingError` if the broker isn't reachable, or rejects the removal.
    package static func forget(
        _ device: DeviceID, on broker: MQTTBroker, settings: MQTTSharingSettings = .init()
    ) async throws(MQTTSharingError) -> [String] {
        try settings.check()
        var removal = DeviceRemoval(device, on: broker, settings: settings)
        let (link, occurrences) = MQTTLink.open(
            broker, clientID: temporaryClientID(), will: nil, keepAliveSeconds: settings.keepAliveSeconds,
            largestPacket: SharingPayload.longestPacket)
        let timeout = Task {
            guard (try? await Task.sleep(for: settings.patience)) != nil else { return }
            link.abandon()
        }
        defer {
            timeout.cancel()
            link.ask(.close)
        }
        for await event in occurrences {
            for operation in try removal.handle(event) { link.ask(operation) }
            if removal.isOver { return removal.removed }
        }
        throw removal.failure
    }
}
