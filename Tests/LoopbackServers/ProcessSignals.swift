import Glibc

/// The signals that a child process can receive.
package enum ProcessSignals {
    /// Runs the body on a thread that blocks no signal.
    ///
    /// A child process inherits the blocked signals of its thread, and the threads of tasks block all of them.
    package static func withAll(_ body: () throws -> Void) rethrows {
        var none = sigset_t()
        var kept = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &kept)
        defer { pthread_sigmask(SIG_SETMASK, &kept, nil) }
        try body()
    }
}
