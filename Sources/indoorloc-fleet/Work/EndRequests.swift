import Foundation
import indoorloc

/// The requests to end this process: SIGINT and SIGTERM. The first signal is a request; a further one ends the process.
final class EndRequests {
    private let signals: SignalSources

    /// Starts to listen.
    ///
    /// - Parameter action: runs at the first request.
    init(_ action: @escaping @Sendable () -> Void) {
        Glibc.signal(SIGPIPE, SIG_IGN)
        signals = SignalSources([SIGINT, SIGTERM]) { number in
            action()
            Glibc.signal(number, SIG_DFL)
        }
    }

    deinit { signals.cancel() }
}
