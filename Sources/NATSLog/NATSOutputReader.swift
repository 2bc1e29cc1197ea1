import CNATS
import IndoorVocabulary
import TagTracking

/// A reader of the outputs in the JetStream stream `POSITIONS`, with a durable consumer.
///
/// The server stores the position of the consumer. It delivers an output again that isn't acknowledged in time, also to
/// a later reader of the same consumer. Several readers of one consumer share the outputs.
package final class NATSOutputReader: Sendable {
    /// Some outputs that the reader must acknowledge.
    package final class Batch: Sendable {
        /// The payloads, each the JSON of an output.
        package let payloads: [[UInt8]]
        fileprivate let messages: [NATSHandle]

        fileprivate init(_ messages: [NATSHandle]) {
            self.messages = messages
            payloads = messages.map { message in
                let count = Int(natsMsg_GetDataLength(message.pointer))
                return [UInt8](UnsafeRawBufferPointer(start: natsMsg_GetData(message.pointer), count: count))
            }
        }

        deinit { for message in messages { natsMsg_Destroy(message.pointer) } }
    }

    /// The time after which the server delivers an output again that isn't acknowledged.
    package static let acknowledgementTime = Duration.seconds(10)
    /// The largest number of outputs that are delivered and not acknowledged.
    private static let mostPending: Int64 = 20_000

    private let connection: NATSConnection
    private let consumer: String
    private let subscription = Guarded<NATSHandle?>(nil)

    /// Creates a reader.
    ///
    /// - Parameter consumer: the name of the consumer. A new one begins with the oldest output of the stream.
    package init(_ connection: NATSConnection, consumer: String) {
        self.connection = connection
        self.consumer = consumer
    }

    deinit { close() }

    /// Returns the next outputs; none if the time passes without one.
    ///
    /// - Throws: `.misconfigured` if the stream doesn't exist, or `.unavailable` if the server doesn't answer. The next
    ///   call tries again.
    package func next(atMost count: Int, within patience: Duration) async throws(FleetStoreError) -> Batch {
        let subscription = try await subscribed()
        let milliseconds = Int64(patience.seconds * 1000)
        do throws(FleetStoreError) {
            return try await connection.blocking(key: FleetNames.outputStream) { () throws(NATSFailure) in
                var list = natsMsgList()
                var code = jsErrCode(0)
                let status = natsSubscription_Fetch(
                    &list, subscription.pointer, Int32(clamping: count), milliseconds, &code)
                if status == NATS_TIMEOUT { return Batch([]) }
                guard status == NATS_OK else { throw NATSFailure(status, code: code) }
                defer { natsMsgList_Destroy(&list) }
                return Batch(
                    (0..<Int(list.Count)).compactMap { index in
                        // The list destroys the messages that remain in it.
                        defer { list.Msgs[index] = nil }
                        return list.Msgs[index].map { NATSHandle(pointer: $0) }
                    })
            }
        } catch {
            close()
            throw error
        }
    }

    /// Acknowledges outputs. The server delivers them again if it doesn't receive this.
    package func acknowledge(_ batch: Batch) async {
        _ = try? await connection.blocking(key: FleetNames.outputStream) { () throws(NATSFailure) in
            for message in batch.messages { natsMsg_Ack(message.pointer, nil) }
        }
    }

    /// Ends the subscription. The consumer remains.
    package func close() {
        let subscription = subscription.withLock { subscription in
            defer { subscription = nil }
            return subscription
        }
        if let subscription { natsSubscription_Destroy(subscription.pointer) }
    }

    /// Returns the subscription of the consumer, which is created unless it exists.
    private func subscribed() async throws(FleetStoreError) -> NATSHandle {
        if let subscription = subscription.withLock(\.self) { return subscription }
        let (context, consumer) = (connection.context, consumer)
        let made = try await connection.blocking(key: FleetNames.outputStream) { () throws(NATSFailure) in
            var code = jsErrCode(0)
            var configuration = jsConsumerConfig()
            try NATSFailure.check(jsConsumerConfig_Init(&configuration))
            var options = jsSubOptions()
            try NATSFailure.check(jsSubOptions_Init(&options))
            var subscription: OpaquePointer?
            var status = NATS_OK
            FleetNames.outputStream.withCString { stream in
                consumer.withCString { name in
                    configuration.Durable = name
                    configuration.DeliverPolicy = js_DeliverAll
                    configuration.AckPolicy = js_AckExplicit
                    configuration.AckWait = Self.acknowledgementTime.nanoseconds
                    configuration.MaxAckPending = Self.mostPending
                    status = js_AddConsumer(nil, context.pointer, stream, &configuration, nil, &code)
                    guard status == NATS_OK else { return }
                    // A subscription that binds to an existing consumer doesn't delete it at its end.
                    options.Stream = stream
                    options.Consumer = name
                    status = js_PullSubscribe(
                        &subscription, context.pointer, FleetNames.outputSubjects, name, nil, &options, &code)
                }
            }
            guard status == NATS_OK, let subscription else { throw NATSFailure(status, code: code) }
            return NATSHandle(pointer: subscription)
        }
        subscription.withLock { $0 = made }
        return made
    }
}
