import CMicroHTTPD
import Glibc
import IndoorVocabulary
import Synchronization

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
            let request = HTTPRequest(method: method, target: target, headers: Self.headers(of: connection))
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
