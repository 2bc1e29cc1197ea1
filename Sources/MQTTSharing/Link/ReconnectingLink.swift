import IndoorVocabulary

/// A link to a broker that is opened again, with growing pauses, after each failure.
package struct ReconnectingLink: Sendable {
    /// An event of the link.
    package enum Event: Sendable {
        /// An attempt to connect begins, over this link.
        case opening(MQTTLink)
        /// The broker has accepted the connection, and has answered the subscriptions; it refused those of these filters.
        case connected(refused: [String])
        /// An event of the current connection, other than its end.
        case link(MQTTLinkEvent)
        /// The connection failed or broke. The next attempt follows after the pause.
        case disconnected(MQTTSharingError, pause: Duration)
    }

    /// The messages to subscribe to.
    package struct Subscription: Sendable {
        /// The topic filters.
        package var filters: [String]
        /// The quality of service to request.
        package var quality: MQTTMessage.Quality
        /// Whether a refused filter ends the connection with `MQTTSharingError.forbidden`.
        package var needsAllFilters: Bool

        /// Creates a subscription.
        package init(_ filters: [String], _ quality: MQTTMessage.Quality, needsAllFilters: Bool = false) {
            (self.filters, self.quality, self.needsAllFilters) = (filters, quality, needsAllFilters)
        }
    }

    /// A connection of this duration resets the pauses.
    private static let stableTime = Duration.seconds(10)

    private let broker: MQTTBroker
    private let clientID: @Sendable () -> String
    private let largestPacket: Int
    /// The subscription of each connection.
    package var subscription = Subscription([], .atMostOnce)
    /// The message that the broker publishes if the connection breaks; nil for none.
    package var will: MQTTMessage?
    /// The silence after which the client pings the broker, in seconds.
    package var keepAliveSeconds: Int32 = 30
    /// The time limit for the broker's answer to the connection request and to the subscriptions.
    package var patience = Duration.seconds(15)
    /// The longest pause before the first attempt to reconnect. It doubles for each further attempt, up to a minute.
    package var firstPause = Duration.seconds(1)

    /// Creates a link that doesn't connect yet.
    ///
    /// - Parameters:
    ///   - clientID: The client ID of all connections.
    ///   - largestPacket: The largest packet that the broker may send, in bytes.
    package init(_ broker: MQTTBroker, clientID: String, largestPacket: Int) {
        (self.broker, self.largestPacket) = (broker, largestPacket)
        self.clientID = { clientID }
    }

    /// Creates a link that doesn't connect yet. Each connection has a new client ID, because a broker ends an earlier
    /// connection with the same ID.
    package init(_ broker: MQTTBroker, clientIDPrefix: String, largestPacket: Int) {
        (self.broker, self.largestPacket) = (broker, largestPacket)
        clientID = { clientIDPrefix + String(UInt64.random(in: .min ... .max), radix: 36) }
    }

    /// Connects, and connects again, until the task is cancelled or until a connection is closed by
    /// `MQTTLink.Operation.close`.
    ///
    /// A cancellation disconnects regularly, unless the link of the connection was abandoned before.
    ///
    /// - Parameter receive: Receives the events in their order. While it waits, no event is received.
    package func run(_ receive: @Sendable (Event) async -> Void) async {
        var backoff = Backoff(first: firstPause, seed: .random(in: .min ... .max))
        while !Task.isCancelled {
            var connectedAt: ContinuousClock.Instant?
            guard let error = await connect(receive, &connectedAt) else { return }
            if let connectedAt, connectedAt.duration(to: .now) >= Self.stableTime { backoff.reset() }
            let pause = backoff.next()
            await receive(.disconnected(error, pause: pause))
            guard (try? await Task.sleep(for: pause)) != nil else { return }
        }
    }

    /// Receives the events of one connection; returns the error that ended it, or nil if the caller ended it.
    ///
    /// - Parameter connectedAt: Set once there is a connection. An attempt that fails late is no stable connection.
    private func connect(
        _ receive: @Sendable (Event) async -> Void, _ connectedAt: inout ContinuousClock.Instant?
    ) async -> MQTTSharingError? {
        let (link, events) = MQTTLink.open(
            broker, clientID: clientID(), will: will, keepAliveSeconds: keepAliveSeconds, largestPacket: largestPacket)
        let timeout = Task { [patience] in
            guard (try? await Task.sleep(for: patience)) != nil else { return }
            link.abandon()
        }
        defer { timeout.cancel() }
        await receive(.opening(link))
        var awaited = Set(subscription.filters)
        var refused: [String] = []
        var (isAccepted, isConnected) = (false, false)
        for await event in events {
            switch event {
            case .accepted:
                isAccepted = true
                for filter in subscription.filters { link.ask(.subscribe(filter, subscription.quality)) }
                await receive(.link(event))
            case .subscribed(let filter, let isGranted) where awaited.remove(filter) != nil:
                if !isGranted { refused.append(filter) }
            case .ended(let error): return error
            case .subscribed, .received, .confirmed, .refused: await receive(.link(event))
            }
            guard isAccepted, !isConnected, awaited.isEmpty else { continue }
            if subscription.needsAllFilters, let filter = refused.first {
                link.abandon()
                return .forbidden(topic: filter)
            }
            isConnected = true
            connectedAt = ContinuousClock.now
            timeout.cancel()
            await receive(.connected(refused: refused))
        }
        guard !Task.isCancelled else {
            link.ask(.close)
            return nil
        }
        if link.isClosing { return nil }
        if isConnected { return .overrun(host: broker.host) }
        return .noAnswer(
            host: broker.host, port: broker.port, to: isAccepted ? "to the subscription" : "to the connection request")
    }
}
