import Foundation
import IndoorLocalization
import MQTTSharing
import TagTracking

/// A gateway that publishes a source's readings over a broker, in batches of at most a tenth of a second.
///
/// Each message is sent at most once (QoS 0), because a late reading is useless. The first message of a connection, and
/// then one message per minute, asks the broker for a confirmation, so that a broker that refuses the messages can
/// report it. Without a connection, the publisher stores the readings of the latest seconds, discards earlier ones, and
/// connects again with growing pauses. The broker retains the gateway's presence, and changes it to `offline` if the
/// connection breaks.
///
/// A class, as the task of the source and that of the connection share it.
final class AdvertisementPublisher: Sendable {
    /// The time between two messages.
    static let interval = Duration.milliseconds(100)
    /// The time for which readings wait for a connection. A fleet discards older ones.
    static let longestWait = Duration.seconds(5)
    /// The time between two messages whose confirmation is requested.
    private static let checkInterval = Duration.seconds(60)
    /// The maximum number of readings that wait.
    static let capacity = 16_384
    /// The maximum number of readings in a message: about 25 KB.
    private static let batchSize = 500
    /// The largest packet that the broker may send, in bytes: it sends only statuses.
    private static let largestPacket = 1 << 14
    /// The maximum time to finish a pending connection after `end()`.
    private static let closingTime = Duration.seconds(5)

    private struct State: Sendable {
        var decoder = ReadingDecoder()
        var pending: [SensorReading] = []
        var wallClock: WallClock?
        var lost = 0
        var isEnding = false
        /// The link to the broker; nil while there is none.
        var link: MQTTLink?
        /// Whether the broker has accepted the connection, and no other process has the name of this one.
        var isAccepted = false
        /// The presence of this process under the name of its gateway.
        var presence: ProcessPresence
        /// Whether another process has the name of this gateway.
        var isRefused = false
        /// Takes the name of this gateway and then publishes, over the current connection.
        var publishing: Task<Void, Never>?
        /// Connects, and connects again.
        var connecting: Task<Void, Never>?
        /// Whether an attempt to connect has begun.
        var hasTried = false
        /// The last reported error, and the reported refusals of this connection.
        var reported: String?
        var refusals = ReportedRefusals()
        /// The time of the next message whose confirmation is requested.
        var nextCheck = ContinuousClock.now
    }

    private let options: PublishOptions
    private let state: Guarded<State>

    init(_ options: PublishOptions) {
        self.options = options
        let topic = IndoorlocPayload.gatewayTopic(prefix: options.prefix, gateway: options.gateway)
        state = Guarded(
            State(presence: ProcessPresence(topic: topic, status: IndoorlocPayload.presenceLevel)))
    }

    /// Throws `CommandError` if another process publishes as the same gateway.
    func checkName() throws(CommandError) {
        guard state.withLock({ $0.isRefused }) else { return }
        let taken = ProcessNameTaken(
            topic: IndoorlocPayload.gatewayTopic(prefix: options.prefix, gateway: options.gateway),
            host: options.broker.host, remedy: "end that process, or give this gateway another name (--name)")
        throw CommandError(description: "\(taken)")
    }

    // MARK: Readings

    /// Adds a reading of the source; only advertisements and decoded beacons are published.
    ///
    /// - Parameter clock: the source's wall clock.
    func receive(_ reading: SensorReading, by clock: WallClock?) {
        state.withLock { state in
            // A sighting that follows its own advertisement contains nothing new.
            if state.decoder.decode(reading).content == .rejected(.repetition) { return }
            switch reading {
            case .advertisement, .sighting: break
            case .motion, .step, .pressure, .gnss, .fix, .range, .radio: return
            }
            state.wallClock = clock
            state.pending.append(reading)
            guard !state.isAccepted || state.pending.count > Self.capacity else { return }
            let isOld = { (waiting: SensorReading) in
                waiting.instant.duration(to: reading.instant) > Self.longestWait
            }
            let excess = max(
                state.pending.prefix(while: isOld).count, state.pending.count - Self.capacity)
            state.pending.removeFirst(excess)
            state.lost += excess
        }
    }

    /// Publishes the pending readings, if there is a connection.
    private func flush() {
        state.withLock { state in
            guard state.isAccepted, let link = state.link else { return }
            var rest = state.pending[...]
            while !rest.isEmpty {
                let payload = IndoorlocPayload(wallClock: state.wallClock, readings: Array(rest.prefix(Self.batchSize)))
                rest = rest.dropFirst(Self.batchSize)
                let topic = IndoorlocPayload.topic(prefix: options.prefix, gateway: options.gateway)
                let isChecked = ContinuousClock.now >= state.nextCheck
                if isChecked { state.nextCheck = .now + Self.checkInterval }
                link.ask(
                    .publish(
                        MQTTMessage(
                            topic: topic, payload: payload.encoded(), quality: isChecked ? .atLeastOnce : .atMostOnce)))
            }
            state.pending = []
        }
    }

    // MARK: Connection

    /// Publishes until `end()`, then sends the pending readings and disconnects.
    ///
    /// Connects at least once: a short source may have ended already. The cancellation of the task has no effect.
    func run() async {
        let presence = state.withLock { $0.presence }
        var connection = ReconnectingLink(
            options.broker, clientID: presence.clientID, largestPacket: Self.largestPacket)
        connection.will = presence.offline
        let connecting = Task { [connection] in await connection.run { receive($0) } }
        state.withLock { $0.connecting = connecting }
        await connecting.value
        endConnection()
        let lost = state.withLock { $0.lost + $0.pending.count }
        if lost > 0 { StandardError.line("\(lost.counting("reading")) not published without a connection", .warning) }
    }

    private var isEnding: Bool { state.withLock { $0.isEnding } }

    /// Ends `run()`: immediately between two attempts to connect, after the pending readings are sent if the broker has
    /// accepted the connection, or after some seconds if the connection is pending.
    func end() {
        let (link, isAccepted) = state.withLock { state in
            state.isEnding = true
            if state.link == nil, state.hasTried { state.connecting?.cancel() }
            return (state.link, state.isAccepted)
        }
        guard let link else { return }
        if isAccepted { close(link) } else { abandonLater(link) }
    }

    private func abandonLater(_ link: MQTTLink) {
        Task {
            try? await Task.sleep(for: Self.closingTime)
            // A connection that has been accepted meanwhile has its own time for the pending readings.
            guard !state.withLock({ $0.isAccepted }) else { return }
            state.withLock { $0.connecting?.cancel() }
            link.abandon()
        }
    }

    private func close(_ link: MQTTLink) {
        flush()
        link.ask(.publish(state.withLock { $0.presence.offline }))
        link.ask(.close)
    }

    private func receive(_ event: ReconnectingLink.Event) {
        switch event {
        case .opening(let link):
            let isEnding = state.withLock { state in
                state.link = link
                state.hasTried = true
                return state.isEnding
            }
            if isEnding { abandonLater(link) }
        case .link(let event):
            if let link = state.withLock({ $0.link }) { receive(event, of: link) }
        case .connected: break
        case .disconnected(let error, _):
            endConnection()
            report(error)
            state.withLock { if $0.isEnding { $0.connecting?.cancel() } }
        }
    }

    private func receive(_ event: MQTTLinkEvent, of link: MQTTLink) {
        switch event {
        case .accepted:
            perform(over: link) { $0.accepted() }
            let publishing = Task {
                try? await Task.sleep(for: ProcessPresence.patience)
                if !Task.isCancelled { self.decide(over: link) }
                while !Task.isCancelled {
                    self.flush()
                    try? await Task.sleep(for: Self.interval)
                }
            }
            state.withLock { $0.publishing = publishing }
        case .received(let message): receive(message, over: link)
        case .refused(let topic, let reason, _):
            let isNew = state.withLock { $0.refusals.isNew(topic, reason) }
            let error = MQTTSharingError.refusedMessage(topic: topic, reason: reason)
            if isNew { StandardError.line("publishing: \(error)", .warning) }
        case .subscribed, .confirmed, .ended: break
        }
    }

    private func endConnection() {
        state.withLock { state in
            state.publishing?.cancel()
            state.link = nil
            state.isAccepted = false
            state.presence.disconnected()
        }
    }

    private func perform(
        over link: MQTTLink, _ change: @Sendable (inout ProcessPresence) -> [MQTTLink.Operation]
    ) {
        for operation in state.withLock({ change(&$0.presence) }) { link.ask(operation) }
    }

    /// Begins to publish if no other process has the name.
    private func decide(over link: MQTTLink) {
        let isEnding: Bool? = state.withLock { state in
            // A decision that has waited while its connection ended isn't that of the next connection.
            guard state.link === link, state.presence.standing == .asking else { return nil }
            for operation in state.presence.decide() { link.ask(operation) }
            state.isAccepted = true
            state.reported = nil
            state.refusals = ReportedRefusals()
            state.nextCheck = .now
            return state.isEnding
        }
        guard let isEnding else { return }
        StandardError.line("publishing to \(options.broker.host) as \(options.gateway)", .info)
        if isEnding { close(link) }
    }

    private func receive(_ message: MQTTMessage, over link: MQTTLink) {
        // After the end, the broker returns this process's own status `offline`, which must be ignored.
        guard !isEnding || !state.withLock({ $0.isAccepted }) else { return }
        perform(over: link) { $0.receive(message) }
        let isRefused = state.withLock { state in
            guard state.presence.standing == .refused, !state.isRefused else { return false }
            state.isRefused = true
            state.isEnding = true
            state.isAccepted = false
            return true
        }
        // Closes without sending a status: the retained status belongs to the other process.
        if isRefused { link.ask(.close) }
    }

    /// Reports the reason why there is no connection. Each reason is reported once until the next connection.
    private func report(_ error: MQTTSharingError) {
        let text = "\(error)"
        let isNew = state.withLock { state in
            defer { state.reported = text }
            return state.reported != text
        }
        if isNew { StandardError.line("publishing: \(text)", .warning) }
    }
}

/// The options of a command that publishes what the radio receives, and their values.
struct PublishOptions: Sendable {
    static let options = [
        CommandOption(
            name: "publish", argument: "ADDRESS",
            help: "publish all advertisements over this MQTT broker: mqtt[s]://[USER@]HOST[:PORT]/PREFIX"),
        CommandOption(
            name: "name", argument: "NAME", help: "name of this gateway in the topic (default: the host name)"),
        CommandOption(
            name: "publish-ca", argument: "FILE", help: "certificate authorities (PEM) to trust for the broker"),
        CommandOption(
            name: "publish-password-file", argument: "FILE",
            help: "file with the broker's password (default $\(MQTTCredentials.environmentVariable))"),
        CommandOption(name: "publish-plain-password", help: "allow sending the password without TLS, unencrypted"),
    ]

    /// The broker, with credentials.
    let broker: MQTTBroker
    /// The first level of all topics.
    let prefix: String
    /// The name of this gateway.
    let gateway: String

    /// Reads the options of a command; returns nil without `--publish`.
    init?(_ arguments: ParsedArguments) throws {
        let command = arguments.syntax.name
        guard let text = arguments.value("publish") else {
            guard let name = Self.options.map(\.name).first(where: arguments.has) else { return nil }
            throw UsageError(message: "--\(name) requires --publish", command: command)
        }
        var address: MQTTAddress
        do throws(MQTTSharingError) {
            address = try MQTTAddress(text)
        } catch { throw UsageError(message: "--publish: \(error)", command: command) }
        address.broker = try arguments.credentials(for: address.broker, what: "--publish", prefix: "publish")
        let name = arguments.value("name")
        do throws(SharingNameError) {
            gateway = try DeviceID(name ?? ProcessInfo.processInfo.hostName).rawValue
        } catch {
            let what = name == nil ? "the host name (set --name)" : "--name"
            throw UsageError(message: "\(what): \(error)", command: command)
        }
        broker = address.broker
        prefix = address.room
    }
}
