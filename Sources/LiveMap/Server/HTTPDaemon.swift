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
