import CMicroHTTPD
import IndoorVocabulary

/// A request and its response on a connection of libmicrohttpd.
///
/// The polling thread of the daemon calls `receive`, `read` and `complete`; tasks call `finish` and `offer`. While the
/// response is not known yet, or a stream has no update, the connection is suspended, so that no thread waits for it.
/// Suspending and resuming happen under one lock, so that no resumption is lost.
final class HTTPExchange: Sendable {
    // Unchecked, because the connection is used only under the lock of the exchange, and only before its completion.
    private struct State: @unchecked Sendable {
        var phase = Phase.expected
        /// Nil before the first call and after the completion.
        var connection: OpaquePointer?
        var isSuspended = false
        var isStopped = false
        var task: Task<Void, Never>?
        var updates: UpdateBuffer

        mutating func suspend() {
            guard let connection, !isSuspended else { return }
            MHD_suspend_connection(connection)
            isSuspended = true
        }

        mutating func resume() {
            guard let connection, isSuspended else { return }
            isSuspended = false
            MHD_resume_connection(connection)
        }
    }

    private enum Phase {
        /// The headers haven't been received.
        case expected
        case receiving(HTTPRequest, headers: [HTTPHeader])
        /// A task determines the response.
        case working(HTTPRequest)
        case known(HTTPResponse, headers: [HTTPHeader])
        case sent
    }

    private let text: String
    private let server: LiveMapServing
    private let state: Guarded<State>

    /// - Parameter text: the target of the request line.
    init(_ text: String, server: LiveMapServing) {
        (self.text, self.server) = (text, server)
        state = Guarded(State(updates: UpdateBuffer(limit: server.limits.waitingBytes)))
    }

    // MARK: Calls of the polling thread

    /// Receives a part of the request: first the headers, then parts of the body, and `nil` at its end.
    ///
    /// - Returns: whether the connection stays open.
    func receive(_ connection: OpaquePointer, method: String, _ part: UnsafeRawBufferPointer?) -> Bool {
        let isOpen = state.withLock { state in
            state.connection = connection
            guard !state.isStopped else { return false }
            switch state.phase {
            case .expected:
                let received = server.accept(connection, method: method, text)
                guard case .success(let (request, headers)) = received else {
                    server.beginWork(for: connection)
                    if case .failure(let problem) = received { send(HTTPResponse(problem), [], &state) }
                    return true
                }
                state.phase = .receiving(request, headers: headers)
                return true
            case .receiving(var request, let headers):
                guard let part else {
                    server.beginWork(for: connection)
                    state.suspend()
                    state.phase = .working(request)
                    state.task = Task { [server] in self.finish(await server.routes.response(to: request), headers) }
                    return true
                }
                // The length of the body was checked with the head. The phase changes first so that the body has one
                // owner and grows in place.
                state.phase = .sent
                request.body += part
                state.phase = .receiving(request, headers: headers)
                return true
            case .known(let response, let headers):
                send(response, headers, &state)
                return true
            case .working, .sent: return true
            }
        }
        return isOpen
    }

    /// Copies the next bytes of the stream into `target`; returns 0 if the connection now waits for an update, and nil
    /// at the end.
    func read(into target: UnsafeMutableRawBufferPointer) -> Int? {
        state.withLock { state in
            guard !state.isStopped else { return nil }
            let count = state.updates.take(into: target)
            if count == 0 { state.suspend() }
            return count
        }
    }

    /// Ends the exchange: the client has the response, or the connection is closed.
    func complete() {
        let task = state.withLock { state in
            state.connection = nil
            state.isSuspended = false
            return state.task
        }
        task?.cancel()
    }

    private func send(_ response: HTTPResponse, _ headers: [HTTPHeader], _ state: inout State) {
        guard let connection = state.connection else { return }
        state.phase = .sent
        let native: OpaquePointer?
        switch response.body {
        case .none: native = MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
        case .bytes(var bytes):
            native = bytes.withUnsafeMutableBytes {
                MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY)
            }
        case .stream(let stream):
            native = MHD_create_response_from_callback(
                mhd_size_unknown, 16_384, HTTPDaemon.reader, Unmanaged.passUnretained(self).toOpaque(), nil)
            state.updates.append(UpdateEncoding.start, isFrame: false)
            state.task = Task { [server] in await server.follow(stream, for: self) }
        }
        guard let native else { return }
        for header in HTTPResponse.securityHeaders + headers + response.headers {
            MHD_add_response_header(native, header.name, header.value)
        }
        MHD_queue_response(connection, UInt32(response.status), native)
        MHD_destroy_response(native)
    }

    // MARK: Calls of tasks

    private func finish(_ response: HTTPResponse, _ headers: [HTTPHeader]) {
        state.withLock { state in
            guard case .working = state.phase else { return }
            state.phase = .known(response, headers: headers)
            state.resume()
        }
    }

    /// Adds the text of an update to the stream.
    func offer(_ bytes: [UInt8], isFrame: Bool) {
        state.withLock { state in
            state.updates.append(bytes, isFrame: isFrame)
            state.resume()
        }
    }

    /// Whether the client has received all that was added to the stream, up to the buffers of the network.
    var isDrained: Bool { state.withLock { $0.updates.isEmpty } }

    /// Adds a comment to the stream if nothing else waits, so that a closed connection is detected.
    func keepAlive() {
        state.withLock { state in
            guard state.updates.isEmpty else { return }
            state.updates.append(UpdateEncoding.keepAlive, isFrame: false)
            state.resume()
        }
    }

    /// Ends the exchange before the daemon stops, which must have no suspended connection.
    func stop() {
        let task = state.withLock { state in
            state.isStopped = true
            state.resume()
            return state.task
        }
        task?.cancel()
    }
}
