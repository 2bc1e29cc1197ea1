import IndoorVocabulary

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
