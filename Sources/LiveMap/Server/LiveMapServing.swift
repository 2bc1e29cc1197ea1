import CMicroHTTPD
import IndoorVocabulary
import Synchronization

/// The state that the daemons and the exchanges of a server share.
final class LiveMapServing: Sendable {
    /// The connections beyond the limit that are open while they receive their refusal.
    static let refusals = 32

    private struct State {
        var exchanges: [ObjectIdentifier: HTTPExchange] = [:]
        var connections = 0
        var isStopped = false
    }

    let limits: LiveMapServer.Limits
    let routes: any HTTPRoutes
    private let access: LiveMapAccess
    private let state = Guarded(State())

    init(_ routes: any HTTPRoutes, _ access: LiveMapAccess, _ limits: LiveMapServer.Limits) {
        (self.routes, self.access, self.limits) = (routes, access, limits)
    }

    /// The number of requests that have not ended.
    var exchangeCount: Int { state.withLock { $0.exchanges.count } }

    var connectionCount: Int { state.withLock { $0.connections } }

    // MARK: Connections

    /// Counts a new connection, and returns whether it is beyond the limit.
    func open() -> Bool {
        state.withLock { state in
            state.connections += 1
            return state.connections > limits.connections
        }
    }

    func close() { state.withLock { $0.connections -= 1 } }

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

    func end(_ exchange: HTTPExchange) {
        state.withLock { _ = $0.exchanges.removeValue(forKey: ObjectIdentifier(exchange)) }
        exchange.complete()
    }

    /// Ends all exchanges, and those that still begin.
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
            let target = try HTTPTarget(text)
            let request = HTTPRequest(method: method, target: target, headers: Self.headers(of: connection))
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
    /// The exchange stays open after the last event, as a browser would connect again.
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
