import CNATS
import IndoorVocabulary
import TagTracking

/// The publisher of a fleet's outputs in the JetStream stream `POSITIONS`.
///
/// The server acknowledges each output when the stream has stored it. ``flush()`` waits for the acknowledgements.
package final class NATSOutputPublisher: Sendable {
    /// The largest number of outputs that wait for their acknowledgement.
    private static let mostPending = 16_384

    private let connection: NATSConnection
    private let publisher: NATSPublisher
    /// The time limit of acknowledgements in milliseconds.
    private let patience: Int64
    private let failures: Failures

    /// The failures of outputs.
    private final class Failures: Sendable {
        private let state = Guarded(0)

        var count: Int { state.withLock(\.self) }

        func record() { state.withLock { $0 += 1 } }
    }

    /// Opens the publisher.
    ///
    /// - Parameter patience: the longest time to wait for acknowledgements; nil for that of each request.
    /// - Throws: `.misconfigured` if the stream doesn't exist.
    package init(_ connection: NATSConnection, patience: Duration? = nil) async throws(FleetStoreError) {
        self.connection = connection
        let patience = patience.map { Int64($0.seconds * 1000) } ?? NATSConnection.requestTime
        self.patience = patience
        let failures = Failures()
        self.failures = failures
        publisher = try await NATSPublisher(
            connection, stream: FleetNames.outputStream, mostPending: Self.mostPending,
            patience: patience
        ) { _ in failures.record() }
    }

    /// The number of failures so far in which outputs may have been lost.
    package var losses: Int { failures.count }

    /// Sends outputs. The server acknowledges them later.
    package func publish(_ outputs: [FleetOutput]) async {
        let (publisher, failures) = (publisher, failures)
        _ = try? await connection.blocking(key: FleetNames.outputStream) { () throws(NATSFailure) in
            do throws(NATSFailure) {
                for output in outputs {
                    try publisher.send(Array(output.json.utf8), to: FleetNames.outputSubject(of: output.tag))
                }
            } catch {
                // Don't send the outputs after the lost one: the worker emits all of them again.
                failures.record()
            }
        }
    }

    /// Waits until the stream has all outputs so far; returns false if the server doesn't acknowledge them in time.
    package func flush() async -> Bool {
        let (publisher, patience, failures) = (publisher, patience, failures)
        let isComplete = try? await connection.blocking(key: FleetNames.outputStream) { () throws(NATSFailure) in
            do throws(NATSFailure) {
                try publisher.flush(within: patience)
                return true
            } catch {
                // The pending outputs may belong to several partitions; each partition reads the count after the flush.
                failures.record()
                publisher.forget()
                return false
            }
        }
        return isComplete ?? false
    }
}

/// A reader of the outputs in the JetStream stream `POSITIONS`, with a durable consumer.
///
/// The server stores the position of the consumer. It redelivers each output that isn't acknowledged in time, even to a
/// later reader of the same consumer. Several readers of one consumer share the outputs.
package final class NATSOutputReader: Sendable {
    /// A batch of outputs that the reader must acknowledge.
    package final class Batch: Sendable {
        /// The payloads, each the JSON of an output.
        package let payloads: [[UInt8]]
        /// The subjects of the acknowledgements. A message of libnats isn't kept, because it refers to its
        /// subscription, which may end first.
        fileprivate let acknowledgements: [String]

        fileprivate init(_ messages: [OpaquePointer] = []) {
            payloads = messages.map { message in
                let count = Int(natsMsg_GetDataLength(message))
                return [UInt8](UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: count))
            }
            acknowledgements = messages.compactMap { natsMsg_GetReply($0).map { String(cString: $0) } }
        }
    }

    /// The time after which the server redelivers an output that isn't acknowledged.
    package static let acknowledgementTime = Duration.seconds(10)
    /// The largest number of outputs that are delivered but not acknowledged.
    private static let mostPending: Int64 = 20_000

    private let connection: NATSConnection
    private let consumer: String
    private let subscription = Guarded<NATSSubscription?>(nil)

    /// Creates a reader.
    ///
    /// - Parameter consumer: the name of the consumer. A new one begins with the oldest output of the stream.
    package init(_ connection: NATSConnection, consumer: String) {
        self.connection = connection
        self.consumer = consumer
    }

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
                if status == NATS_TIMEOUT { return Batch() }
                guard status == NATS_OK else { throw NATSFailure(status, code: code) }
                defer { natsMsgList_Destroy(&list) }
                return Batch(UnsafeBufferPointer(start: list.Msgs, count: Int(list.Count)).compactMap(\.self))
            }
        } catch {
            close()
            throw error
        }
    }

    /// Acknowledges outputs. The server delivers them again if it doesn't receive this.
    package func acknowledge(_ batch: Batch) async {
        let nats = connection.connection
        _ = try? await connection.blocking(key: FleetNames.outputStream) { () throws(NATSFailure) in
            for subject in batch.acknowledgements { natsConnection_PublishString(nats.pointer, subject, "+ACK") }
        }
    }

    /// Ends the subscription. The consumer remains.
    package func close() { subscription.withLock { $0 = nil } }

    /// Returns the subscription, and creates it and its consumer if necessary.
    private func subscribed() async throws(FleetStoreError) -> NATSSubscription {
        if let subscription = subscription.withLock(\.self) { return subscription }
        let (connection, consumer) = (connection, consumer)
        let made = try await connection.blocking(key: FleetNames.outputStream) { () throws(NATSFailure) in
            try consumer.withCString { name in
                Result { () throws(NATSFailure) in try Self.subscribe(connection, consumer: name) }
            }.get()
        }
        subscription.withLock { $0 = made }
        return made
    }

    private static func subscribe(
        _ connection: NATSConnection, consumer name: UnsafePointer<CChar>
    ) throws(NATSFailure) -> NATSSubscription {
        try connection.addConsumer(stream: FleetNames.outputStream) { configuration in
            configuration.Durable = name
            configuration.DeliverPolicy = js_DeliverAll
            configuration.AckPolicy = js_AckExplicit
            configuration.AckWait = acknowledgementTime.nanoseconds
            configuration.MaxAckPending = mostPending
        }
        var options = jsSubOptions()
        try NATSFailure.check(jsSubOptions_Init(&options))
        var code = jsErrCode(0)
        var subscription: OpaquePointer?
        let status = FleetNames.outputStream.withCString { stream in
            // A subscription that binds to an existing consumer doesn't delete it at its end.
            options.Stream = stream
            options.Consumer = name
            return js_PullSubscribe(
                &subscription, connection.context.pointer, FleetNames.outputSubjects, name, nil, &options, &code)
        }
        guard status == NATS_OK, let subscription else { throw NATSFailure(status, code: code) }
        return NATSSubscription(subscription, of: connection)
    }
}
