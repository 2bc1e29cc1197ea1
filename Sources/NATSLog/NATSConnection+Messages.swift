import CNATS
import Dispatch
import IndoorVocabulary
import TagTracking

/// A message of NATS.
package struct NATSMessage: Hashable, Sendable {
    /// The subject.
    package var subject: String
    /// The content.
    package var payload: [UInt8]
}

extension NATSConnection {
    /// Subscribes to messages without acknowledgement, such as the outputs of a fleet.
    ///
    /// Messages that are published while the connection is broken are not received. A reader that is slower than the
    /// messages needs memory for those that wait.
    ///
    /// - Parameter subject: the subject, with wildcards such as `positions.*`.
    package func messages(subject: String) async throws(FleetStoreError) -> AsyncStream<NATSMessage> {
        let connection = connection
        let subscription = try await blocking(key: subject) { () throws(NATSFailure) in
            var subscription: OpaquePointer?
            let status = natsConnection_SubscribeSync(&subscription, connection.pointer, subject)
            guard status == NATS_OK, let subscription else { throw NATSFailure(status) }
            natsSubscription_SetPendingLimits(subscription, -1, -1)
            // The server has the subscription when it answers.
            try NATSFailure.check(natsConnection_FlushTimeout(connection.pointer, NATSConnection.requestTime))
            return NATSHandle(pointer: subscription)
        }
        let (messages, continuation) = AsyncStream.makeStream(of: NATSMessage.self)
        let isEnded = Flag()
        continuation.onTermination = { _ in isEnded.raise() }
        DispatchQueue(label: "IndoorLocalization.NATSMessages", qos: .userInitiated).async {
            while !isEnded.isRaised {
                var message: OpaquePointer?
                let status = natsSubscription_NextMsg(&message, subscription.pointer, 200)
                if status == NATS_TIMEOUT { continue }
                guard status == NATS_OK, let message else { break }
                let count = Int(natsMsg_GetDataLength(message))
                let payload = [UInt8](UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: count))
                let subject = natsMsg_GetSubject(message).map { String(cString: $0) } ?? ""
                continuation.yield(NATSMessage(subject: subject, payload: payload))
                natsMsg_Destroy(message)
            }
            continuation.finish()
            natsSubscription_Unsubscribe(subscription.pointer)
            natsSubscription_Destroy(subscription.pointer)
        }
        return messages
    }
}
