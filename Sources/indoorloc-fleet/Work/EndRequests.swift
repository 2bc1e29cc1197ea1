import Foundation

/// The requests to end this process: SIGINT and SIGTERM. The first one is a request; a further one ends the process.
final class EndRequests {
    private let sources: [any DispatchSourceSignal]

    /// Starts to listen.
    ///
    /// - Parameter action: runs at the first request.
    init(_ action: @escaping @Sendable () -> Void) {
        Glibc.signal(SIGPIPE, SIG_IGN)
        sources = [SIGINT, SIGTERM].map { number in
            // The dispatch source receives the signal; its default action must not happen.
            Glibc.signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler {
                action()
                Glibc.signal(number, SIG_DFL)
            }
            source.activate()
            return source
        }
    }

    deinit { sources.forEach { $0.cancel() } }
}
