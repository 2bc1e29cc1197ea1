import IndoorVocabulary
import MQTTSharing
import TagTracking

/// The outputs of a fleet as messages of a broker, and as devices of Home Assistant.
///
/// The sink accepts outputs at any time, also without a broker: it keeps the latest position and presence of each tag,
/// and a bounded number of events. After each connection it publishes all retained messages again.
package actor MQTTOutputSink: FleetOutputSink {
    private let broker: MQTTBroker
    private let settings: MQTTOutputSettings
    private let report: @Sendable (MQTTSharingError) -> Void
    private var publisher: OutputPublisher
    /// The largest packet that the broker may send, in bytes: it sends only the status of Home Assistant.
    private static let largestPacket = 1 << 14
    private var link: MQTTLink?
    private var isAccepted = false
    private var isStopped = false
    private var running: Task<Void, Never>?
    private var pause: Task<Void, Never>?
    private var lastError: MQTTSharingError?

    /// Creates a sink without a connection.
    ///
    /// - Parameter report: receives an error of the connection that differs from the one before.
    /// - Throws: `MQTTSharingError.badPrefix`, or `.plainPassword` if the broker's password would be readable.
    package init(
        _ broker: MQTTBroker, settings: MQTTOutputSettings = MQTTOutputSettings(),
        report: @escaping @Sendable (MQTTSharingError) -> Void = { _ in }
    ) throws(MQTTSharingError) {
        try settings.check()
        try broker.checkSecrecy()
        self.broker = broker
        self.settings = settings
        self.report = report
        publisher = OutputPublisher(settings)
    }

    deinit { link?.abandon() }

    /// The numbers of messages.
    package var counters: OutputPublisher.Counters { publisher.counters }
    /// Whether the broker has accepted the connection.
    package var isConnected: Bool { isAccepted }

    /// Starts to connect, and to reconnect after each failure.
    package func start() {
        guard running == nil, !isStopped else { return }
        running = Task { await run() }
    }

    /// Publishes that this process is offline, sends what waits within 5 s, and disconnects.
    package func stop() async {
        guard !isStopped else { return }
        isStopped = true
        pause?.cancel()
        if isAccepted, let link {
            while let message = publisher.last() { link.ask(.publish(message)) }
            link.ask(.publish(status("offline")))
            link.ask(.close)
        } else {
            link?.abandon()
        }
        await running?.value
    }

    /// Ends the connection without disconnecting, as the end of the process does.
    package func abandon() {
        isStopped = true
        pause?.cancel()
        link?.abandon()
    }

    package func write(_ outputs: [FleetOutput]) {
        for output in outputs { publisher.add(output) }
        pump()
    }

    /// Removes the retained messages of tags, such as those that left the register.
    package func remove(_ tags: [TagKey]) {
        publisher.remove(tags)
        pump()
    }

    /// Selects the tags that Home Assistant gets, such as those of the register; nil for all.
    package func useHomeAssistant(for tags: Set<TagKey>?) {
        publisher.useHomeAssistant(for: tags)
        pump()
    }

    // MARK: Connection

    private func run() async {
        var backoff = Backoff(first: settings.firstPause, seed: .random(in: .min ... .max))
        while !isStopped {
            let id = "fleet" + String(UInt64.random(in: .min ... .max), radix: 36)
            let (link, events) = MQTTLink.open(
                broker, clientID: id, will: status("offline"), keepAliveSeconds: settings.keepAliveSeconds,
                largestPacket: Self.largestPacket)
            self.link = link
            let timeout = Task { [weak self, settings] in
                guard (try? await Task.sleep(for: settings.patience)) != nil else { return }
                await self?.abandonUnlessAccepted(link)
            }
            for await event in events {
                if case .accepted = event { backoff.reset() }
                receive(event, of: link)
            }
            timeout.cancel()
            if !isStopped, !isAccepted, lastError == nil {
                fail(.noAnswer(host: broker.host, port: broker.port, to: "to the connection request"))
            }
            isAccepted = false
            self.link = nil
            publisher.endConnection()
            guard !isStopped else { return }
            let length = backoff.next()
            let pause = Task { _ = try? await Task.sleep(for: length) }
            self.pause = pause
            await pause.value
        }
    }

    private func abandonUnlessAccepted(_ link: MQTTLink) {
        if !isAccepted { link.abandon() }
    }

    private func receive(_ event: MQTTLinkEvent, of link: MQTTLink) {
        switch event {
        case .accepted:
            isAccepted = true
            lastError = nil
            link.ask(.publish(status("online")))
            if let topic = publisher.birthTopic { link.ask(.subscribe(topic, .atLeastOnce)) }
            publisher.restate()
        case .confirmed: publisher.confirm()
        case .received(let message):
            // A retained birth message is older than this connection, which has published everything.
            guard message.topic == publisher.birthTopic, !message.isRetained,
                message.payload.elementsEqual("online".utf8)
            else { return }
            publisher.restateForHomeAssistant()
        case .subscribed(let filter, let isGranted):
            if !isGranted { fail(.forbidden(topic: filter)) }
        case .ended(let error): fail(error)
        }
        pump()
    }

    private func fail(_ error: MQTTSharingError) {
        guard !isStopped, error != lastError else { return }
        lastError = error
        report(error)
    }

    private func pump() {
        guard isAccepted, !isStopped, let link else { return }
        while let message = publisher.next() { link.ask(.deliver(message)) }
    }

    private func status(_ text: String) -> MQTTMessage {
        MQTTMessage(topic: settings.topics.status, payload: Array(text.utf8), isRetained: true)
    }
}
