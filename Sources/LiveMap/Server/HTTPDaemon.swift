import CMicroHTTPD
import Glibc
import IndoorVocabulary

/// A daemon of libmicrohttpd on one listening socket, with one polling thread.
///
/// All calls go to the `LiveMapServing` that started the daemon. It must exist longer than the daemon.
// Unchecked, because libmicrohttpd permits calls from all threads, and the pointer never changes.
struct HTTPDaemon: @unchecked Sendable {
    private let daemon: OpaquePointer

    /// Starts a daemon, which then owns the socket. After an error, the socket is closed.
    init(_ socket: ListeningSocket, _ server: LiveMapServing) throws(LiveMapError) {
        let limits = server.limits
        // The new thread inherits the blocked signals, so that only other threads of the program receive signals.
        var (all, kept) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, &kept)
        defer { pthread_sigmask(SIG_SETMASK, &kept, nil) }
        let identity = socket.identity
        errno = 0
        let daemon = mhd_start(
            socket.descriptor, UInt32(limits.connections + LiveMapServing.refusals),
            UInt32(limits.silence.components.seconds),
            { _, connection, _, method, _, body, count, exchange in
                HTTPDaemon.receive(connection, method, body, count, exchange?.pointee)
            },
            { server, target, _ in
                guard let server, let target else { return nil }
                let serving = Unmanaged<LiveMapServing>.fromOpaque(server).takeUnretainedValue()
                return Unmanaged.passUnretained(serving.begin(String(cString: target))).toOpaque()
            },
            { server, connection, exchange, _ in
                guard let server, let ended = exchange?.pointee else { return }
                exchange?.pointee = nil
                let serving = Unmanaged<LiveMapServing>.fromOpaque(server).takeUnretainedValue()
                serving.end(Unmanaged<HTTPExchange>.fromOpaque(ended).takeUnretainedValue(), on: connection)
            },
            { server, connection, mark, change in
                guard let server, let connection else { return }
                let serving = Unmanaged<LiveMapServing>.fromOpaque(server).takeUnretainedValue()
                if change == .CONNECTION_NOTIFY_STARTED {
                    // The mark identifies a connection beyond the limit.
                    if serving.open(connection) { mark?.pointee = server }
                } else {
                    serving.close(connection)
                }
            }, Unmanaged.passUnretained(server).toOpaque())
        guard let daemon else {
            let number = errno
            // libmicrohttpd closes the socket if the thread can't be started, but not after earlier failures.
            socket.close(ifStill: identity)
            throw .system(call: "MHD_start_daemon", number: number)
        }
        self.daemon = daemon
    }

    private static func receive(
        _ connection: OpaquePointer?, _ method: UnsafePointer<CChar>?, _ body: UnsafePointer<CChar>?,
        _ count: UnsafeMutablePointer<Int>?, _ exchange: UnsafeMutableRawPointer?
    ) -> MHD_Result {
        guard let connection, let method, let count, let exchange else { return .NO }
        let part = count.pointee == 0 ? nil : UnsafeRawBufferPointer(start: body, count: count.pointee)
        count.pointee = 0
        let receiver = Unmanaged<HTTPExchange>.fromOpaque(exchange).takeUnretainedValue()
        return receiver.receive(connection, method: String(cString: method), part) ? .YES : .NO
    }

    /// The reader of a stream's content.
    static let reader: MHD_ContentReaderCallback = { exchange, _, buffer, size in
        guard let exchange, let buffer else { return mhd_end_of_stream }
        let sender = Unmanaged<HTTPExchange>.fromOpaque(exchange).takeUnretainedValue()
        let target = UnsafeMutableRawBufferPointer(start: buffer, count: size)
        return sender.read(into: target) ?? mhd_end_of_stream
    }

    /// Closes the socket and all connections, and ends the thread. No connection may be suspended.
    func stop() { MHD_stop_daemon(daemon) }
}

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
        /// The task that detects that the client has closed the connection.
        var watch: Task<Void, Never>?
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
                    if server.routes.endsWithClient(request.target) { state.watch = Task { await watchClient() } }
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
            state.watch?.cancel()
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

    /// The interval in which `watchClient` looks at the connection.
    private static let watchInterval = Duration.milliseconds(200)

    /// Cancels the task of the response when the client closes the connection, which libmicrohttpd doesn't detect while the
    /// connection is suspended.
    private func watchClient() async {
        while (try? await Task.sleep(for: Self.watchInterval)) != nil {
            let hasLeft = state.withLock { state in
                // The socket is open as long as the connection is set.
                guard case .working = state.phase, let connection = state.connection else { return false }
                var byte: UInt8 = 0
                let count = recv(mhd_socket(connection), &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
                return count == 0 || count < 0 && errno != EAGAIN && errno != EINTR
            }
            guard hasLeft else { continue }
            state.withLock { $0.task }?.cancel()
            return
        }
    }

    private func finish(_ response: HTTPResponse, _ headers: [HTTPHeader]) {
        state.withLock { state in
            state.watch?.cancel()
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
            state.watch?.cancel()
            state.resume()
            return state.task
        }
        task?.cancel()
    }
}

/// A TCP socket that listens for connections.
struct ListeningSocket {
    /// The number of bytes that the kernel buffers for a reader that is slower than the session. Newer frames can't
    /// replace the data in the kernel, so with a large buffer a slow reader would show an old position.
    private static let sendBuffer: Int32 = 131_072
    private static let backlog: Int32 = 512

    /// The descriptor, which the owner closes.
    let descriptor: Int32
    /// The address with the port that was bound.
    let address: LiveMapAddress

    /// Listens at a numeric address; port 0 chooses a free port.
    ///
    /// - Throws: `LiveMapError` with the reason of the system.
    init(_ address: LiveMapAddress) throws(LiveMapError) {
        var (descriptor, failed, port) = (Int32(-1), "", UInt16(0))
        let status = address.withSystemAddress { system, length in
            // MHD polls the socket, so accepting must not block.
            let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            descriptor = socket(Int32(system.pointee.sa_family), type, 0)
            guard descriptor >= 0 else { return failed = "socket" }
            // The port is free as soon as the server has stopped, even if the kernel still holds old connections.
            Self.set(SO_REUSEADDR, 1, on: descriptor)
            Self.set(SO_SNDBUF, Self.sendBuffer, on: descriptor)
            guard bind(descriptor, system, length) == 0 else { return failed = "bind" }
            guard listen(descriptor, Self.backlog) == 0 else { return failed = "listen" }
            guard let bound = Self.port(of: descriptor) else { return failed = "getsockname" }
            port = bound
        }
        let number = errno
        guard status == 0 else {
            throw .badAddress(text: address.description, reason: String(cString: gai_strerror(status)))
        }
        guard failed.isEmpty else {
            if descriptor >= 0 { Glibc.close(descriptor) }
            switch number {
            case EADDRINUSE: throw .addressInUse(address)
            case EADDRNOTAVAIL, EAFNOSUPPORT: throw .addressNotAvailable(address)
            case EACCES, EPERM: throw .notPermitted(address)
            default: throw .system(call: failed, number: number)
            }
        }
        self.descriptor = descriptor
        self.address = address.withPort(port)
    }

    func close() { Glibc.close(descriptor) }

    /// The kernel's number of the socket; nil if the descriptor is closed.
    var identity: UInt? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt(status.st_ino) : nil
    }

    /// Closes the descriptor if it still refers to the socket.
    func close(ifStill identity: UInt?) { if let identity, identity == self.identity { close() } }

    /// Listens at all numeric addresses of an address, with the same port.
    static func all(at address: LiveMapAddress) throws(LiveMapError) -> [ListeningSocket] {
        let numeric = address.numericAddresses
        var attempts = address.port == 0 ? 20 : 1
        while true {
            attempts -= 1
            let first = try ListeningSocket(numeric[0])
            do throws(LiveMapError) {
                var sockets = [first]
                for other in numeric.dropFirst() {
                    sockets.append(try ListeningSocket(other.withPort(first.address.port)))
                }
                return sockets
            } catch .addressNotAvailable {
                // A host without IPv6 has only 127.0.0.1.
                return [first]
            } catch {
                first.close()
                // Another process uses the free port that was chosen for the first address.
                guard case .addressInUse = error, attempts > 0 else { throw error }
            }
        }
    }

    private static func set(_ option: Int32, _ value: Int32, on descriptor: Int32) {
        var value = value
        setsockopt(descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func port(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard status == 0 else { return nil }
        // Both kinds of addresses have the port after the two bytes of the family.
        return withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) }
    }
}
