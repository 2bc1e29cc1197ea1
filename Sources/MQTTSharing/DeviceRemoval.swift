import LocalizationSession

/// Removes what a broker retains of a device, and knows of each topic whether something was there and is gone.
///
/// A broker confirms also what its access list makes it throw away. So the topics are subscribed to: what was retained
/// comes first, and the removal is done when it comes back.
struct DeviceRemoval: Sendable {
    /// What remains to be removed, in order.
    let topics: [String]
    private var granted: Set<String> = []
    private var retained: Set<String> = []
    private var gone: Set<String> = []
    private var isLetIn = false

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

    /// The topics under which something was retained.
    var removed: [String] { topics.filter(retained.contains) }

    var isOver: Bool { gone.count == topics.count }

    /// What it means that nothing more comes.
    var failure: MQTTSharingError {
        if !isLetIn { return noAnswer(to: "to be let in") }
        if granted.count < topics.count { return noAnswer(to: "to subscribe") }
        return .forbidden(topic: topics.first { !gone.contains($0) } ?? "")
    }

    private func noAnswer(to question: String) -> MQTTSharingError {
        .noAnswer(host: broker.host, port: broker.port, to: question)
    }

    /// Takes in what a link tells; returns what to ask of it.
    mutating func take(_ event: MQTTLinkEvent) throws(MQTTSharingError) -> [MQTTLink.Operation] {
        switch event {
        case .accepted:
            isLetIn = true
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
        case .ended(let error): throw error
        }
    }
}

extension MQTTPositionSharing {
    /// Has a broker, and Home Assistant with it, forget a device: nothing is retained of it any more.
    ///
    /// A device that still shares comes back: stop it before.
    /// - Parameters:
    ///   - device: what it was called.
    ///   - settings: those that it shared with. Without a prefix of Home Assistant, the usual one counts.
    /// - Returns: the topics under which something was retained; none of a device that was not there.
    /// - Throws: `MQTTSharingError` if the broker cannot be had, or does not take the removal.
    public static func forget(
        _ device: DeviceID, on broker: MQTTBroker, settings: MQTTSharingSettings = .init()
    ) async throws(MQTTSharingError) -> [String] {
        try settings.check()
        var removal = DeviceRemoval(device, on: broker, settings: settings)
        let (link, occurrences) = MQTTLink.open(
            broker, clientID: temporaryClientID(), will: nil, keepAliveSeconds: settings.keepAliveSeconds)
        let timeout = Task {
            guard (try? await Task.sleep(for: settings.patience)) != nil else { return }
            link.abandon()
        }
        defer {
            timeout.cancel()
            link.ask(.close)
        }
        for await event in occurrences {
            for operation in try removal.take(event) { link.ask(operation) }
            if removal.isOver { return removal.removed }
        }
        throw removal.failure
    }
}
