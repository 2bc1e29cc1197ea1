/// Single messages that a broker must confirm.
package enum MQTTDelivery {
    /// Publishes a message over a connection of its own, and returns when the broker has confirmed it.
    ///
    /// - Parameters:
    ///   - message: of quality `atLeastOnce`; one of the other quality is never confirmed.
    ///   - patience: how long connection and confirmation may take together.
    /// - Throws: `MQTTSharingError`, also if the task was cancelled; then it may have been published all the same.
    package static func deliver(
        _ message: MQTTMessage, to broker: MQTTBroker, patience: Duration
    ) async throws(MQTTSharingError) {
        let (link, occurrences) = MQTTLink.open(
            broker, clientID: MQTTPositionSharing.temporaryClientID(), will: nil, keepAliveSeconds: 60)
        let timeout = Task {
            guard (try? await Task.sleep(for: patience)) != nil else { return }
            link.abandon()
        }
        defer { timeout.cancel() }
        let outcome = await withTaskCancellationHandler { () -> MQTTLinkEvent? in
            for await event in occurrences {
                switch event {
                case .accepted: link.ask(.deliver(message))
                case .confirmed, .ended: return event
                case .subscribed, .received: break
                }
            }
            return nil
        } onCancel: {
            link.abandon()
        }
        switch outcome {
        case .confirmed: link.ask(.close)
        case .ended(let error): throw error
        case .accepted, .subscribed, .received, nil:
            throw .noAnswer(host: broker.host, port: broker.port, to: "to take a message")
        }
    }
}
