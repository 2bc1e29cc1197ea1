/// Delivery of single messages with the broker's confirmation.
package enum MQTTDelivery {
    /// Publishes a message over a separate connection, and waits for the broker's confirmation.
    ///
    /// - Parameters:
    ///   - message: A message of quality `atLeastOnce`. The broker doesn't confirm a message of quality `atMostOnce`.
    ///   - patience: The time limit for connection and confirmation together.
    /// - Throws: `MQTTSharingError`, also if the task is cancelled. Even then, the broker may have published the
    ///   message.
    package static func deliver(
        _ message: MQTTMessage, to broker: MQTTBroker, patience: Duration
    ) async throws(MQTTSharingError) {
        let (link, occurrences) = MQTTLink.open(
            broker, clientID: MQTTPositionSharing.temporaryClientID(), will: nil, keepAliveSeconds: 60,
            largestPacket: SharingPayload.longestPacket)
        let timeout = Task {
            guard (try? await Task.sleep(for: patience)) != nil else { return }
            link.abandon()
        }
        defer { timeout.cancel() }
        let outcome = await withTaskCancellationHandler { () -> MQTTLinkEvent? in
            for await event in occurrences {
                switch event {
                case .accepted: link.ask(.deliver(message))
                case .confirmed, .refused, .ended: return event
                case .subscribed, .received: break
                }
            }
            return nil
        } onCancel: {
            link.abandon()
        }
        switch outcome {
        case .confirmed: link.ask(.close)
        case .refused(let topic, let reason, _):
            link.ask(.close)
            throw .refusedMessage(topic: topic, reason: reason)
        case .ended(let error): throw error
        case .accepted, .subscribed, .received, nil:
            throw .noAnswer(host: broker.host, port: broker.port, to: "to the published message")
        }
    }
}
