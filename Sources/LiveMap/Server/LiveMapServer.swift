import CMicroHTTPD
import Glibc
import IndoorVocabulary
import Synchronization

/// An HTTP server for a live map: the page, the content as JSON and images, and a stream of updates.
///
/// The server listens from its creation until `stop()`. Its interface is described by `/api/v1/openapi.json`. Any
/// number of servers can have the same content. A reader that is slower than the session loses frames, and delays
/// neither the session nor other readers.
public final class LiveMapServer: Sendable {
    /// The limits of a server.
    public struct Limits: Hashable, Sendable {
        /// The maximum number of connections, in 1...65,536. For each further connection, the server closes a
        /// connection whose client hasn't sent a whole request; if all clients have, the further one gets the status
        /// 503. The default is 256.
        public var connections = 256
        /// The time without traffic after which a connection is closed, in whole seconds and at least 1 s. It is also
        /// the time in which a client must send the body of a request or the next request. A connection that waits for
        /// an update isn't closed. The default is 30 s.
        public var silence = Duration.seconds(30)
        /// The time in which a client must send the complete head of its first request. The default is 10 s.
        package var head = Duration.seconds(10)
        /// The maximum number of connections from one address of another machine. The default is 64.
        package var connectionsPerAddress = 64
        /// The interval of comments in streams without updates, which detect closed connections; at least 10 ms. The
        /// default is 15 s.
        public var keepAlive = Duration.seconds(15)
        /// The maximum number of bytes that wait for one reader of a stream. The default is 512 KiB.
        public var waitingBytes = 524_288

        /// Creates the default limits.
        public init() {}

        /// The limits with each value in its range.
        package var clamped: Self {
            var limits = self
            limits.connections = min(max(connections, 1), 65_536)
            limits.silence = min(max(silence, .seconds(1)), .seconds(86_400))
            limits.keepAlive = max(keepAlive, .milliseconds(10))
            return limits
        }
    }

    /// The address at which the server listens, with the port that was chosen for port 0.
    public let address: LiveMapAddress
    /// The URL of the page.
    public var url: String { "http://\(address)/" }

    private let serving: LiveMapServing
    private let daemons: Guarded<[HTTPDaemon]>

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - content: the content of the map.
    ///   - address: the address at which the server listens.
    ///   - token: the token that each request needs, of at least 16 characters of A-Z, a-z, 0-9 and -._~+/=. Without a
    ///     token, all processes of this host have access.
    ///   - metrics: returns the content of `/metrics` in the OpenMetrics format; nil for none.
    ///   - limits: the limits of the server.
    /// - Throws: `LiveMapError.tokenRequired` if an address that other hosts can reach has no token, `.badToken` if the
    ///   token is invalid, `.addressInUse`, `.addressNotAvailable` or `.notPermitted` if the system refuses the
    ///   address, and `.system` for other errors.
    public convenience init(
        content: LiveMapSession, address: LiveMapAddress = .standard, token: String? = nil,
        metrics: (@Sendable () async -> String)? = nil, limits: Limits = Limits()
    ) throws(LiveMapError) {
        let listener = try LiveMapListener(address, token: token)
        try self.init(content: content, listener: listener, metrics: metrics, limits: limits)
    }

    /// Starts a server of any content.
    ///
    /// - Throws: as the initializer for a session.
    package convenience init(
        content: any LiveMapContent, address: LiveMapAddress = .standard, token: String? = nil,
        metrics: (@Sendable () async -> String)? = nil, limits: Limits = Limits()
    ) throws(LiveMapError) {
        let listener = try LiveMapListener(address, token: token)
        try self.init(content: content, listener: listener, metrics: metrics, limits: limits)
    }

    /// Starts a server at the address of a listener.
    ///
    /// - Parameters:
    ///   - content: the content of the map.
    ///   - listener: the address and the token. Each server needs its own listener.
    ///   - metrics: returns the content of `/metrics` in the OpenMetrics format; nil for none.
    ///   - limits: the limits of the server.
    /// - Throws: `LiveMapError.system` if the system has no resources for the server.
    package convenience init(
        content: any LiveMapContent, listener: LiveMapListener, metrics: (@Sendable () async -> String)? = nil,
        limits: Limits = Limits()
    ) throws(LiveMapError) {
        try self.init(
            routes: LiveMapRoutes(content: content, metrics: metrics), listener: listener, limits: limits)
    }

    /// Starts a server with other paths at the address of a listener.
    ///
    /// - Parameters:
    ///   - routes: the paths.
    ///   - listener: the address and the token. Each server needs its own listener.
    ///   - limits: the limits of the server.
    /// - Throws: `LiveMapError.system` if the system has no resources for the server.
    package init(
        routes: any HTTPRoutes, listener: LiveMapListener, limits: Limits = Limits()
    ) throws(LiveMapError) {
        let sockets = listener.take()
        precondition(!sockets.isEmpty, "the listener \(listener.address) has been used by another server")
        address = listener.address
        let serving = LiveMapServing(routes, LiveMapAccess(address, token: listener.token), limits.clamped)
        self.serving = serving
        var daemons: [HTTPDaemon] = []
        do throws(LiveMapError) {
            for socket in sockets { daemons.append(try HTTPDaemon(socket, serving)) }
        } catch {
            // A daemon must have no suspended connection when it stops.
            serving.stop()
            for daemon in daemons { daemon.stop() }
            // The daemon that failed to start has closed its socket.
            for socket in sockets.dropFirst(daemons.count + 1) { socket.close() }
            throw error
        }
        self.daemons = Guarded(daemons)
    }

    deinit { stop() }

    /// Stops the server: closes all connections and frees the port. A second call has no effect.
    public func stop() {
        let daemons = daemons.withLock { daemons in
            defer { daemons = [] }
            return daemons
        }
        serving.stop()
        for daemon in daemons { daemon.stop() }
    }

    /// The number of requests that have not ended, including streams.
    package var requestCount: Int { serving.exchangeCount }
    /// The number of open connections, including those that are about to be closed.
    package var connectionCount: Int { serving.connectionCount }
}

/// The address of a live map's server before the server starts.
///
/// A listener reports an unusable address early, while the content is still being prepared. Connections wait until a
/// server starts with the listener; without one, the listener frees the address when it is released.
package final class LiveMapListener: Sendable {
    /// The address, with the port that was chosen for port 0.
    package let address: LiveMapAddress
    let token: String?
    /// The sockets that no server owns yet.
    private let sockets: Guarded<[ListeningSocket]>

    /// Listens at an address.
    ///
    /// - Parameters:
    ///   - address: the address at which the server will listen.
    ///   - token: the token that each request needs, of at least 16 characters of A-Z, a-z, 0-9 and -._~+/=. Without a
    ///     token, all processes of this host have access.
    /// - Throws: `LiveMapError.tokenRequired` if an address that other hosts can reach has no token, `.badToken` if the
    ///   token is invalid, `.addressInUse`, `.addressNotAvailable` or `.notPermitted` if the system refuses the
    ///   address, and `.system` for other errors.
    package init(_ address: LiveMapAddress = .standard, token: String? = nil) throws(LiveMapError) {
        try LiveMapAccess.check(token: token, for: address)
        let sockets = try ListeningSocket.all(at: address)
        self.address = address.withPort(sockets[0].address.port)
        self.token = token
        self.sockets = Guarded(sockets)
    }

    deinit { for socket in take() { socket.close() } }

    /// Returns the sockets, which the caller then owns; none after the first call.
    func take() -> [ListeningSocket] {
        sockets.withLock { sockets in
            defer { sockets = [] }
            return sockets
        }
    }
}

/// The state that the daemons and the exchanges of a server share.
final class LiveMapServing: Sendable {
    /// The number of connections beyond the limit that can be open while they receive a refusal.
    static let refusals = 32

    private struct State {
        var exchanges: [ObjectIdentifier: HTTPExchange] = [:]
        var connections: ConnectionTable
        /// The sockets of the open connections. libmicrohttpd closes a socket after it has reported the end.
        var sockets: [ConnectionTable.ID: Int32] = [:]
        /// The task that waits for the next deadline, and the time at which it wakes up.
        var watch: (number: Int, until: ContinuousClock.Instant, task: Task<Void, Never>)?
        var watchCount = 0
        var isStopped = false

        /// Shuts down the socket of a connection, which libmicrohttpd then closes.
        func shutDown(_ id: ConnectionTable.ID) {
            if let socket = sockets[id] { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    let limits: LiveMapServer.Limits
    let routes: any HTTPRoutes
    private let access: LiveMapAccess
    private let state: Guarded<State>

    init(_ routes: any HTTPRoutes, _ access: LiveMapAccess, _ limits: LiveMapServer.Limits) {
        (self.routes, self.access, self.limits) = (routes, access, limits)
        state = Guarded(State(connections: ConnectionTable(limits)))
    }

    /// The number of requests that have not ended.
    var exchangeCount: Int { state.withLock { $0.exchanges.count } }

    var connectionCount: Int { state.withLock { $0.connections.count } }

    // MARK: Connections

    private static func id(_ connection: OpaquePointer) -> ConnectionTable.ID { UInt(bitPattern: connection) }

    /// Adds a new connection, and returns whether its request is refused.
    func open(_ connection: OpaquePointer) -> Bool {
        let id = Self.id(connection)
        return state.withLock { state in
            state.sockets[id] = mhd_socket(connection)
            let opening = state.connections.open(id, of: ClientAddress(mhd_client(connection)), at: .now)
            if case .replacing(let other) = opening { state.shutDown(other) }
            watch(&state)
            return opening == .refused
        }
    }

    func close(_ connection: OpaquePointer) {
        state.withLock { state in
            state.connections.close(Self.id(connection))
            state.sockets[Self.id(connection)] = nil
        }
    }

    /// Records that a request is complete, or gets its response without its body.
    func beginWork(for connection: OpaquePointer) {
        state.withLock { $0.connections.beginWork(for: Self.id(connection)) }
    }

    /// Starts the task that closes the connections of slow clients, unless one wakes up early enough.
    private func watch(_ state: inout State) {
        guard !state.isStopped, let deadline = state.connections.nextDeadline else { return }
        if let watch = state.watch, watch.until <= deadline { return }
        state.watch?.task.cancel()
        state.watchCount += 1
        let number = state.watchCount
        let task = Task { [weak self] in
            var next: ContinuousClock.Instant? = deadline
            while let deadline = next {
                // At most ten checks per second, because the deadlines of many connections are close together.
                let wake = max(deadline, .now + .milliseconds(100))
                guard (try? await Task.sleep(until: wake, clock: .continuous)) != nil else { return }
                next = self?.closeOverdue(number)
            }
        }
        state.watch = (number, deadline, task)
    }

    /// Closes connections whose request has not arrived in time.
    ///
    /// - Parameter number: the number of the task that calls this.
    /// - Returns: the next deadline; nil if there is none, or if another task waits for it.
    private func closeOverdue(_ number: Int) -> ContinuousClock.Instant? {
        state.withLock { state in
            guard state.watch?.number == number else { return nil }
            for id in state.connections.overdue(at: .now) { state.shutDown(id) }
            guard !state.isStopped, let next = state.connections.nextDeadline else {
                state.watch = nil
                return nil
            }
            state.watch?.until = next
            return next
        }
    }

    // MARK: Exchanges

    /// Returns the exchange for a new request.
    func begin(_ target: String) -> HTTPExchange {
        let exchange = HTTPExchange(target, server: self)
        let isStopped = state.withLock { state in
            state.exchanges[ObjectIdentifier(exchange)] = exchange
            return state.isStopped
        }
        if isStopped { exchange.stop() }
        return exchange
    }

    func end(_ exchange: HTTPExchange, on connection: OpaquePointer?) {
        state.withLock { state in
            state.exchanges[ObjectIdentifier(exchange)] = nil
            guard let connection else { return }
            state.connections.endWork(for: Self.id(connection), at: .now)
            watch(&state)
        }
        exchange.complete()
    }

    /// Ends all exchanges, including those that begin later.
    func stop() {
        let exchanges = state.withLock { state in
            state.isStopped = true
            return Array(state.exchanges.values)
        }
        for exchange in exchanges { exchange.stop() }
    }

    // MARK: Requests

    /// Returns the request with the headers for its response, or the reason for refusing it.
    func accept(
        _ connection: OpaquePointer, method: String, _ text: String
    ) -> Result<(HTTPRequest, [HTTPHeader]), HTTPProblem> {
        do throws(HTTPProblem) {
            if mhd_socket_context(connection) != nil {
                throw HTTPProblem(
                    503, "The server has its maximum of \(limits.connections) connections.",
                    [HTTPHeader("Connection", "close"), HTTPHeader("Retry-After", "5")])
            }
            state.withLock { $0.connections.receiveHead(of: Self.id(connection), at: .now) }
            let target = try HTTPTarget(text)
            var request = HTTPRequest(method: method, target: target, headers: Self.headers(of: connection))
            request.client = ClientAddress(mhd_client(connection)).text
            try request.checkLength()
            let headers = try access.check(request)
            try routes.checkMethod(method, target)
            let limit = routes.largestBody(of: target)
            if let length = request.headers["content-length"].flatMap({ Int($0) }), length > limit {
                throw HTTPProblem.longBody(limit: limit)
            }
            return .success((request, headers))
        } catch { return .failure(error) }
    }

    private static func headers(of connection: OpaquePointer) -> [String: String] {
        var headers: [String: String] = [:]
        withUnsafeMutablePointer(to: &headers) { pointer in
            _ = MHD_get_connection_values(
                connection, .HEADER_KIND,
                { context, _, name, value in
                    guard let headers = context?.assumingMemoryBound(to: [String: String].self), let name else {
                        return .NO
                    }
                    let key = String(cString: name).lowercased()
                    let text = value.map { String(cString: $0) } ?? ""
                    let separator = key == "cookie" ? "; " : ", "
                    headers.pointee[key] = headers.pointee[key].map { $0 + separator + text } ?? text
                    return .YES
                }, pointer)
        }
        return headers
    }

    // MARK: Streams

    /// Passes the events of a stream to an exchange until its task is cancelled.
    ///
    /// The exchange stays open after the last event, because otherwise a browser would connect again.
    func follow(_ stream: any HTTPStream, for exchange: HTTPExchange) async {
        await withTaskGroup { group in
            group.addTask { [limits] in
                while (try? await Task.sleep(for: limits.keepAlive)) != nil { exchange.keepAlive() }
            }
            await stream.write(to: HTTPStreamWriter(exchange))
            await group.waitForAll()
        }
    }
}
