import Glibc

/// What signals a child process may get.
package enum ProcessSignals {
    /// Runs the body on a thread that no signal is kept from, as the child inherits that: those of tasks keep all of them.
    package static func withAll(_ body: () throws -> Void) rethrows {
        var none = sigset_t()
        var kept = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &kept)
        defer { pthread_sigmask(SIG_SETMASK, &kept, nil) }
        try body()
    }
}
