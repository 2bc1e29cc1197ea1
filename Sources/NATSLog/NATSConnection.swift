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

/// The servers of a cluster, with the credentials and the security of the connection.
package struct NATSServers: Hashable, Sendable {
    /// The URLs of one or more servers of a cluster, such as `nats://127.0.0.1:4222`; `tls://` requires TLS.
    package var urls: [String]
    /// The user and the password; nil for none.
    package var user: Credentials?
    /// The path of a credentials file with a JWT and its key, as `nsc` writes it; nil for none.
    package var credentialsFile: String?
    /// The TLS settings; nil for a connection without TLS, unless a URL begins with `tls`.
    package var security: Security?

    /// A user and a password.
    package struct Credentials: Hashable, Sendable, CustomStringConvertible {
        package var user: String
        package var password: String

        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }

        /// The user, without the password.
        package var description: String { user }
    }

    /// The files of a connection with TLS, in PEM format.
    package struct Security: Hashable, Sendable {
        /// The certificate authorities to trust; nil for those of the system.
        package var authorityFile: String?
        /// The client's certificate; nil if the server requires none.
        package var certificateFile: String?
        /// The key of the client's certificate.
        package var keyFile: String?

        package init(authorityFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil) {
            self.authorityFile = authorityFile
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    package init(
        urls: [String], user: Credentials? = nil, credentialsFile: String? = nil, security: Security? = nil
    ) {
        self.urls = urls
        self.user = user
        self.credentialsFile = credentialsFile
        self.security = security
    }
}

/// The options of a connection as libnats takes them.
final class NATSOptions {
    let pointer: OpaquePointer

    init(_ servers: NATSServers, name: String, events: NATSEvents) throws(NATSFailure) {
        var options: OpaquePointer?
        let status = natsOptions_Create(&options)
        guard status == NATS_OK, let options else { throw NATSFailure(status) }
        pointer = options
        try setServers(servers.urls)
        try NATSFailure.check(natsOptions_SetName(options, name))
        // If a server doesn't answer two pings, the connection changes to another server before most leases expire.
        try NATSFailure.check(natsOptions_SetTimeout(options, 2_000))
        try NATSFailure.check(natsOptions_SetPingInterval(options, 1_000))
        try NATSFailure.check(natsOptions_SetMaxPingsOut(options, 2))
        try NATSFailure.check(natsOptions_SetMaxReconnect(options, .max))
        try NATSFailure.check(natsOptions_SetReconnectWait(options, 100))
        // While the connection is broken, buffer nothing: a delayed write must not arrive after a newer one.
        try NATSFailure.check(natsOptions_SetReconnectBufSize(options, 1))
        try NATSFailure.check(natsOptions_SetFailRequestsOnDisconnect(options, true))
        try setCredentials(servers)
        try setSecurity(servers)
        try events.attach(to: options)
    }

    deinit { natsOptions_Destroy(pointer) }

    private func setServers(_ urls: [String]) throws(NATSFailure) {
        var status = NATS_OK
        Self.withCStrings(urls) { pointers in
            var pointers = pointers
            status = natsOptions_SetServers(pointer, &pointers, Int32(pointers.count))
        }
        try NATSFailure.check(status)
    }

    private static func withCStrings(_ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Void) {
        func next(_ index: Int, _ pointers: [UnsafePointer<CChar>?]) {
            guard index < texts.count else { return body(pointers) }
            texts[index].withCString { next(index + 1, pointers + [$0]) }
        }
        next(0, [])
    }

    private func setCredentials(_ servers: NATSServers) throws(NATSFailure) {
        if let user = servers.user {
            try NATSFailure.check(natsOptions_SetUserInfo(pointer, user.user, user.password))
        }
        if let file = servers.credentialsFile {
            try NATSFailure.check(natsOptions_SetUserCredentialsFromFiles(pointer, file, nil))
        }
    }

    private func setSecurity(_ servers: NATSServers) throws(NATSFailure) {
        let isSecure = servers.urls.contains { $0.hasPrefix("tls://") }
        guard isSecure || servers.security != nil else { return }
        try NATSFailure.check(natsOptions_SetSecure(pointer, true))
        guard let security = servers.security else { return }
        if let file = security.authorityFile {
            try NATSFailure.check(natsOptions_LoadCATrustedCertificates(pointer, file))
        }
        if let certificate = security.certificateFile {
            try NATSFailure.check(
                natsOptions_LoadCertificatesChain(pointer, certificate, security.keyFile ?? certificate))
        }
    }
}

/// The receiver of the events of a connection, which libnats calls on its own threads.
///
/// libnats keeps the address. The object therefore retains itself until the connection is closed.
final class NATSEvents: Sendable {
    private struct State: Sendable {
        var generation = 0
        var isClosing = false
        var refusals = 0
        var latestRefusal: String?
    }

    private let state = Guarded(State())
    private let report: @Sendable (NATSConnection.Change) -> Void

    init(_ report: @escaping @Sendable (NATSConnection.Change) -> Void) { self.report = report }

    var generation: Int { state.withLock(\.generation) }
    var refusals: Int { state.withLock(\.refusals) }
    var latestRefusal: String? { state.withLock(\.latestRefusal) }

    /// Registers the callbacks, and retains the object until ``release()``.
    func attach(to options: OpaquePointer) throws(NATSFailure) {
        let address = Unmanaged.passRetained(self).toOpaque()
        try NATSFailure.check(
            natsOptions_SetDisconnectedCB(
                options, { _, context in NATSEvents.at(context)?.recordInterruption() }, address))
        try NATSFailure.check(
            natsOptions_SetReconnectedCB(
                options, { connection, context in NATSEvents.at(context)?.recordReconnection(connection) }, address))
        try NATSFailure.check(
            natsOptions_SetClosedCB(options, { _, context in NATSEvents.at(context)?.release() }, address))
        try NATSFailure.check(
            natsOptions_SetErrorHandler(
                options,
                { connection, _, status, context in NATSEvents.at(context)?.recordError(status, connection) },
                address))
    }

    /// Releases the object. libnats makes no call after that.
    func release() { Unmanaged.passUnretained(self).release() }

    private static func at(_ context: UnsafeMutableRawPointer?) -> NATSEvents? {
        context.map { Unmanaged<NATSEvents>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Whether the program has closed the connection.
    var isClosing: Bool { state.withLock(\.isClosing) }

    /// Records that the program closes the connection.
    func close() { state.withLock { $0.isClosing = true } }

    private func recordInterruption() {
        if !state.withLock(\.isClosing) { report(.disconnected) }
    }

    private func recordReconnection(_ connection: OpaquePointer?) {
        state.withLock { $0.generation += 1 }
        var buffer = [CChar](repeating: 0, count: 256)
        natsConnection_GetConnectedUrl(connection, &buffer, buffer.count)
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        report(.reconnected(url: String(decoding: bytes, as: UTF8.self)))
    }

    private func recordError(_ status: natsStatus, _ connection: OpaquePointer?) {
        guard status == NATS_NOT_PERMITTED else { return }
        var text: UnsafePointer<CChar>?
        natsConnection_GetLastError(connection, &text)
        let reason = text.map { String(cString: $0) } ?? "a subject is refused"
        state.withLock { state in
            state.refusals += 1
            state.latestRefusal = reason
        }
        report(.refused(reason))
    }
}

/// The ended objects of a connection that libnats may still use.
///
/// For each message, the reading thread of libnats 3.4 gets the subscription from a table, and uses it after the table
/// is unlocked, without a reference (`natsConn_processMsg`). `natsSubscription_Destroy` frees a subscription at once,
/// even while that thread uses it. This object therefore frees a subscription that is no longer in the table only when
/// the thread can't use it any more: after the reply to a later request, which the same thread has read, or after the
/// connection's end, which waits for the thread.
///
/// The creation of each subscription begins with a request. Therefore no more objects wait than have existed at the
/// same time.
final class NATSRetirement: Sendable {
    private struct State: Sendable {
        var subscriptions: [NATSHandle] = []
        var contexts: [NATSHandle] = []
        var isConnectionClosed = false
    }

    private let state = Guarded(State())

    /// The number of subscriptions that wait.
    var count: Int { state.withLock(\.subscriptions.count) }

    /// Takes a subscription that is no longer in the table.
    func add(subscription: NATSHandle) {
        let isConnectionClosed = state.withLock { state in
            if !state.isConnectionClosed { state.subscriptions.append(subscription) }
            return state.isConnectionClosed
        }
        if isConnectionClosed { natsSubscription_Destroy(subscription.pointer) }
    }

    /// Takes a context. It may have a subscription, which libnats can't remove from the table without freeing it.
    func add(context: NATSHandle) {
        let isConnectionClosed = state.withLock { state in
            if !state.isConnectionClosed { state.contexts.append(context) }
            return state.isConnectionClosed
        }
        if isConnectionClosed { jsCtx_Destroy(context.pointer) }
    }

    /// Sends a request, and frees the subscriptions that ended before it if the server replies.
    ///
    /// - Parameter request: sends the request; throws if no reply arrives.
    func afterReply<Value>(_ request: () throws(NATSFailure) -> Value) throws(NATSFailure) -> Value {
        let ended = state.withLock { state in
            defer { state.subscriptions = [] }
            return state.subscriptions
        }
        do throws(NATSFailure) {
            let value = try request()
            for subscription in ended { natsSubscription_Destroy(subscription.pointer) }
            return value
        } catch {
            for subscription in ended { add(subscription: subscription) }
            throw error
        }
    }

    /// Frees all objects, now and later.
    ///
    /// - Precondition: The reading thread of the connection has ended.
    func closeConnection() {
        let (subscriptions, contexts) = state.withLock { state in
            defer { state = State(isConnectionClosed: true) }
            return (state.subscriptions, state.contexts)
        }
        for subscription in subscriptions { natsSubscription_Destroy(subscription.pointer) }
        for context in contexts { jsCtx_Destroy(context.pointer) }
    }
}

/// A pointer to an object of libnats.
///
/// `@unchecked`, because the compiler can't check that libnats guards each of its objects with a lock, so that several
/// threads may use it.
struct NATSHandle: @unchecked Sendable {
    let pointer: OpaquePointer
}
