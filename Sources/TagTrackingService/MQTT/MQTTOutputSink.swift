import IndoorVocabulary
import LocalizationSession
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
    /// The presence of this process under its name.
    private var presence: ProcessPresence
    /// The largest packet that the broker may send, in bytes: it sends only statuses.
    private static let largestPacket = 1 << 14
    private var link: MQTTLink?
    private var isAccepted = false
    private var isStopped = false
    private var running: Task<Void, Never>?
    /// Takes the name of this process, if no other process has answered until then.
    private var decision: Task<Void, Never>?
    private var lastError: MQTTSharingError?
    private var reportedRefusals = ReportedRefusals()
    private let refusals: AsyncStream<ProcessNameTaken>
    private let refusal: AsyncStream<ProcessNameTaken>.Continuation

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
        presence = ProcessPresence(topic: settings.topics.process, status: OutputTopics.statusLevel)
        (refusals, refusal) = AsyncStream.makeStream()
    }

    deinit {
        link?.abandon()
        refusal.finish()
    }

    /// The numbers of messages.
    package var counters: OutputPublisher.Counters { publisher.counters }
    /// Whether the broker has accepted the connection, and no other process has the name of this one.
    package var isConnected: Bool { isAccepted }

    /// Returns the error once another process has the name of this one; nil once the sink has stopped. The sink then
    /// publishes nothing more. Call this function once.
    package nonisolated func nameTaken() async -> ProcessNameTaken? { await refusals.first { _ in true } }

    /// Starts to connect, and to reconnect after each failure.
    package func start() {
        guard running == nil, !isStopped else { return }
        var connection = ReconnectingLink(broker, clientID: presence.clientID, largestPacket: Self.largestPacket)
        connection.will = presence.offline
        connection.keepAliveSeconds = settings.keepAliveSeconds
        connection.patience = settings.patience
        connection.firstPause = settings.firstPause
        running = Task { [connection] in await connection.run { await self.receive($0) } }
    }

    /// Publishes that this process is offline, sends what waits within 5 s, and disconnects.
    package func stop() async {
        guard !isStopped else { return }
        isStopped = true
        refusal.finish()
        if presence.standing == .asking, let link {
            // A short run doesn't wait for the answer of another process.
            for operation in presence.decide() { link.ask(operation) }
            publisher.restate()
            isAccepted = true
        }
        if isAccepted, let link {
            while let message = publisher.last() { link.ask(.publish(message)) }
            if let farewell = publisher.farewell { link.ask(.publish(farewell)) }
            link.ask(.publish(presence.offline))
            link.ask(.close)
        } else {
            link?.abandon()
            running?.cancel()
        }
        await running?.value
        endConnection()
    }

    /// Ends the connection without disconnecting, as if the process had ended.
    package func abandon() {
        isStopped = true
        link?.abandon()
        running?.cancel()
    }

    package func write(_ outputs: [FleetOutput]) {
        for output in outputs { publisher.add(output) }
        pump()
    }

    package func write(_ alerts: [AlertEvent]) async {
        for event in alerts { publisher.add(event) }
        pump()
    }

    package func use(_ alerts: AlertStatus) async {
        publisher.use(alerts)
        pump()
    }

    /// Removes the retained messages of tags, such as those that left the register.
    package func remove(_ tags: [TagKey]) {
        publisher.remove(tags)
        pump()
    }

    package func forget(_ isForgotten: @Sendable (TagKey) -> Bool) async { publisher.forget(isForgotten) }

    package func use(register: TagRegister, removing tags: [TagKey]) async {
        publisher.remove(tags)
        publisher.useHomeAssistant(for: Set(register.entries.keys))
        pump()
    }

    /// Selects the tags that Home Assistant gets, such as those of the register; nil for all.
    package func useHomeAssistant(for tags: Set<TagKey>?) {
        publisher.useHomeAssistant(for: tags)
        pump()
    }

    // MARK: Connection

    private func receive(_ event: ReconnectingLink.Event) {
        switch event {
        case .opening(let link):
            endConnection()
            self.link = link
            // The sink may have stopped before the attempt began.
            if isStopped { link.abandon() }
        case .link(let event): receive(event)
        case .connected: break
        case .disconnected(let error, _):
            endConnection()
            fail(error)
        }
    }

    private func endConnection() {
        decision?.cancel()
        isAccepted = false
        link = nil
        presence.disconnected()
        publisher.endConnection()
    }

    /// Publishes everything if no other process has the name.
    private func decide(over link: MQTTLink) {
        // A decision that has waited while its connection ended isn't that of the next connection.
        guard self.link === link, presence.standing == .asking, !isStopped else { return }
        isAccepted = true
        lastError = nil
        reportedRefusals = ReportedRefusals()
        for operation in presence.decide() { link.ask(operation) }
        publisher.restate()
        pump()
    }

    private func receive(_ event: MQTTLinkEvent) {
        guard let link else { return }
        switch event {
        case .accepted:
            decision = Task { [weak self, namePatience = settings.namePatience] in
                guard (try? await Task.sleep(for: namePatience)) != nil else { return }
                await self?.decide(over: link)
            }
            for operation in presence.accepted() { link.ask(operation) }
            if let topic = publisher.birthTopic { link.ask(.subscribe(topic, .atLeastOnce)) }
        case .confirmed: publisher.confirm()
        case .refused(let topic, let reason, let isAwaited):
            publisher.refuse(isAwaited: isAwaited)
            if reportedRefusals.isNew(topic, reason) { report(.refusedMessage(topic: topic, reason: reason)) }
        case .received(let message):
            for operation in presence.receive(message) where !isStopped { link.ask(operation) }
            if presence.standing == .refused { return leave(link) }
            // A retained birth message is older than this connection, which publishes everything.
            guard isAccepted, message.topic == publisher.birthTopic, !message.isRetained,
                message.payload.elementsEqual("online".utf8)
            else { return }
            link.ask(.publish(presence.restatement))
            publisher.restateForHomeAssistant()
        case .subscribed(let filter, let isGranted):
            if !isGranted { fail(.forbidden(topic: filter)) }
        case .ended: break  // reported as a disconnection
        }
        pump()
    }

    /// Ends the connection without changing the status, which belongs to another process.
    private func leave(_ link: MQTTLink) {
        guard !isStopped else { return }
        isStopped = true
        isAccepted = false
        link.ask(.close)
        refusal.yield(
            ProcessNameTaken(
                topic: settings.topics.process, host: broker.host,
                remedy: "end that process, or give this one another name (--output-name) or prefix (--output-prefix)"))
        refusal.finish()
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
}

/// The settings of the outputs of a fleet over a broker.
package struct MQTTOutputSettings: Hashable, Sendable {
    /// The prefix of all topics.
    package var prefix = "indoorloc/v1"
    /// The name of the fleet or, with several processes under one prefix, of this process.
    package var instance = "fleet"
    /// The prefix of Home Assistant's discovery topics, usually `homeassistant`; nil publishes nothing for Home
    /// Assistant.
    package var homeAssistantPrefix: String?
    /// The tags that Home Assistant gets; nil for all.
    package var homeAssistantTags: Set<TagKey>?
    /// The installation of ESPresense-companion under whose topics its devices are published; nil for none.
    package var companion: CompanionHouse?
    /// Whether tags have alerts, or had some at an earlier start, so that Home Assistant can have entities for them.
    package var usesAlerts = false
    /// Whether tags have trained rooms instead of positions. An earlier process with the same prefix may have had the other
    /// one, whose messages are cleared; nil if that can't be, as in a fleet on several machines.
    package var hasTrainedRooms: Bool?
    /// The time between two states of a tag for Home Assistant while neither room nor presence changes. Home Assistant
    /// stores each state in its database.
    package var homeAssistantInterval = Duration.seconds(10)
    /// The maximum number of tags whose retained messages are kept for a reconnection. For further tags, the messages of
    /// those that are away for the longest time are removed from the broker; if all are present, the further ones aren't
    /// published.
    package var tagLimit = 200_000
    /// The maximum number of events that wait for the broker; if more wait, the oldest are lost.
    package var eventLimit = 10_000
    /// The maximum number of messages without the broker's confirmation.
    package var window = 100
    /// The time limit for the connection.
    package var patience = Duration.seconds(10)
    /// The time that the process waits for the answer of another one that has its name.
    package var namePatience = ProcessPresence.patience
    /// The longest pause before the first attempt to reconnect. It doubles for each further attempt, up to a minute.
    package var firstPause = Duration.seconds(1)
    /// The silence after which the client pings the broker, in seconds.
    package var keepAliveSeconds: Int32 = 15

    /// Creates the default settings.
    package init() {}

    /// The topics under the prefix.
    package var topics: OutputTopics { OutputTopics(prefix: prefix, instance: instance) }

    /// Checks the names.
    ///
    /// - Throws: `MQTTSharingError.badPrefix` if the prefix or the instance isn't a valid part of a topic.
    package func check() throws(MQTTSharingError) {
        for name in [prefix, instance] + (homeAssistantPrefix.map { [$0] } ?? []) {
            let levels = name.split(separator: "/", omittingEmptySubsequences: false)
            guard levels.allSatisfy({ SharingNameError(of: String($0)) == nil }) else { throw .badPrefix(name) }
        }
        guard !instance.contains("/") else { throw .badPrefix(instance) }
    }
}
