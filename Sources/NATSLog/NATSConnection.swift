import CNATS
import Dispatch
import IndoorVocabulary
import TagTracking

/// A connection to a NATS server with JetStream, which reconnects automatically.
///
/// libnats has its own threads, and its requests block. The requests run on a queue of this connection, so that they
/// don't block the threads of Swift's pool.
package final class NATSConnection: Sendable {
    /// A change of the connection.
    package enum Change: Hashable, Sendable {
        case disconnected
        case reconnected(url: String)
        /// The server refused a subject.
        case refused(String)
    }

    /// The time limit of a request in milliseconds. It is below the time to live of a lease, so that a member can repeat
    /// a renewal.
    static let requestTime: Int64 = 1_000

    let connection: NATSHandle
    let context: NATSHandle
    private let events: NATSEvents
    private let retirement = NATSRetirement()
    private let queue = DispatchQueue(label: "IndoorLocalization.NATS", qos: .userInitiated, attributes: .concurrent)
    private let isClosed = Guarded(false)

    private init(_ connection: NATSHandle, _ context: NATSHandle, _ events: NATSEvents) {
        self.connection = connection
        self.context = context
        self.events = events
    }

    deinit { close() }

    /// Connects to one of the servers.
    ///
    /// - Parameter report: receives the changes of the connection, on a thread of libnats.
    /// - Throws: `.unavailable` if no server answers, or if it has no JetStream; `.notPermitted` if it refuses the
    ///   credentials; `.misconfigured` if a file or a URL is invalid.
    package static func open(
        _ servers: NATSServers, name: String, report: @escaping @Sendable (Change) -> Void = { _ in }
    ) async throws(FleetStoreError) -> NATSConnection {
        let queue = DispatchQueue(label: "IndoorLocalization.NATSConnect", qos: .userInitiated)
        let result = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(
                    returning: Result { () throws(FleetStoreError) in
                        try connect(servers, name: name, events: NATSEvents(report))
                    })
            }
        }
        let connection = try result.get()
        try await connection.checkJetStream()
        return connection
    }

    private static func connect(
        _ servers: NATSServers, name: String, events: NATSEvents
    ) throws(FleetStoreError) -> NATSConnection {
        do throws(NATSFailure) {
            let options = try NATSOptions(servers, name: name, events: events)
            var connection: OpaquePointer?
            let status = natsConnection_Connect(&connection, options.pointer)
            guard status == NATS_OK, let connection else {
                // libnats may still call back after a failed attempt, such as one with wrong credentials. It doesn't
                // always report that it has finished, so the small object that receives its calls stays in memory.
                throw NATSFailure(status)
            }
            var settings = jsOptions()
            try NATSFailure.check(jsOptions_Init(&settings))
            settings.Wait = requestTime
            var context: OpaquePointer?
            let contextStatus = natsConnection_JetStream(&context, connection, &settings)
            guard contextStatus == NATS_OK, let context else {
                natsConnection_Destroy(connection)
                throw NATSFailure(contextStatus)
            }
            return NATSConnection(NATSHandle(pointer: connection), NATSHandle(pointer: context), events)
        } catch {
            throw error.error(key: servers.urls.joined(separator: ", "))
        }
    }

    /// The number of reconnections. A subscription of an earlier generation may have gaps.
    var generation: Int { events.generation }

    /// The largest message that the server accepts, in bytes.
    package var largestMessage: Int { Int(natsConnection_GetMaxPayload(connection.pointer)) }

    /// Runs a blocking call on the connection's queue.
    func blocking<Value: Sendable>(
        key: String, bytes: Int = 0, _ body: @escaping @Sendable () throws(NATSFailure) -> Value
    ) async throws(FleetStoreError) -> Value {
        let events = events
        let refusals = events.refusals
        let result = await withCheckedContinuation { continuation in
            queue.async {
                // Once the connection is closed, its pointers are invalid.
                let result = Result { () throws(NATSFailure) in
                    if events.isClosing { throw NATSFailure(NATS_CONNECTION_CLOSED) }
                    return try body()
                }
                continuation.resume(returning: result)
            }
        }
        do throws(NATSFailure) { return try result.get() } catch {
            let latest = events.refusals > refusals ? events.latestRefusal : nil
            throw error.error(key: key, bytes: bytes, limit: largestMessage, refusal: latest)
        }
    }

    private func checkJetStream() async throws(FleetStoreError) {
        let context = context
        do throws(FleetStoreError) {
            try await blocking(key: "JetStream") { () throws(NATSFailure) in
                var info: UnsafeMutablePointer<jsAccountInfo>?
                var code = jsErrCode(0)
                try NATSFailure.check(js_GetAccountInfo(&info, context.pointer, nil, &code), code: code)
                jsAccountInfo_Destroy(info)
            }
        } catch .unavailable(let reason) where reason.contains("No responders") {
            throw .unavailable(reason: NATSFailure.noJetStream)
        }
    }

    /// Whether the connection is established at the moment.
    var isConnected: Bool { natsConnection_Status(connection.pointer) == NATS_CONN_STATUS_CONNECTED }

    /// Checks that a stream exists.
    ///
    /// - Throws: `.misconfigured` if it doesn't.
    func checkStream(_ name: String) async throws(FleetStoreError) {
        let context = context
        try await blocking(key: name) { () throws(NATSFailure) in
            var info: UnsafeMutablePointer<jsStreamInfo>?
            var code = jsErrCode(0)
            try NATSFailure.check(js_GetStreamInfo(&info, context.pointer, name, nil, &code), code: code)
            jsStreamInfo_Destroy(info)
        }
    }

    /// Creates a consumer of a stream. Call this function before each new subscription, because it frees the
    /// subscriptions that have ended. It blocks.
    ///
    /// - Parameter configure: sets the configuration. Its C strings must stay valid until this function returns.
    func addConsumer(
        stream: String, configure: (inout jsConsumerConfig) -> Void
    ) throws(NATSFailure) {
        try retirement.afterReply { () throws(NATSFailure) in
            var configuration = jsConsumerConfig()
            try NATSFailure.check(jsConsumerConfig_Init(&configuration))
            configure(&configuration)
            var code = jsErrCode(0)
            try NATSFailure.check(
                js_AddConsumer(nil, context.pointer, stream, &configuration, nil, &code), code: code)
        }
    }

    /// Sends a message without content. It doesn't block.
    func sendEmpty(to subject: String) {
        let (connection, events) = (connection, events)
        queue.async { if !events.isClosing { natsConnection_Publish(connection.pointer, subject, nil, 0) } }
    }

    /// Ends a subscription. It doesn't block.
    func retire(subscription: NATSHandle) {
        let retirement = retirement
        // The call waits for the connection's lock, which libnats also holds while it connects.
        queue.async {
            natsSubscription_Unsubscribe(subscription.pointer)
            retirement.add(subscription: subscription)
        }
    }

    /// Ends a context. It is freed when the connection is closed.
    func retire(context: NATSHandle) { retirement.add(context: context) }

    /// The number of ended subscriptions that the next reply of the server frees.
    var endedSubscriptions: Int { retirement.count }

    /// Closes the connection, and waits until libnats has ended all its threads, because threads that still run when
    /// the process exits would fail. Call this function at the end of the process, when no other connection is open.
    package func end() async {
        close()
        await withCheckedContinuation { continuation in
            queue.async(flags: .barrier) {
                nats_CloseAndWait(Self.requestTime)
                continuation.resume()
            }
        }
    }

    /// Closes the connection. A second call has no effect.
    package func close() {
        let wasClosed = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return isClosed
        }
        guard !wasClosed else { return }
        events.close()
        let (connection, context, retirement) = (connection, context, retirement)
        // The barrier waits for the calls that are in progress.
        queue.async(flags: .barrier) {
            // Send the last buffered messages first.
            natsConnection_FlushTimeout(connection.pointer, Self.requestTime)
            // This call waits for the reading thread.
            natsConnection_Destroy(connection.pointer)
            jsCtx_Destroy(context.pointer)
            retirement.closeConnection()
        }
    }
}
