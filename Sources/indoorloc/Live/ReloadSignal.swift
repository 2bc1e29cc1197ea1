import Glibc
import IndoorLocalization

/// The signal that requests a reload of files, such as the settings: SIGHUP.
final class ReloadSignal {
    private let source: SignalSources

    /// Handles the signal from now on: none is lost after the initializer returns.
    init(_ body: @escaping @Sendable () -> Void) { source = SignalSources([SIGHUP]) { _ in body() } }

    deinit { source.cancel() }
}
