import CSystemd
import Foundation

/// The manager of services that started this process, if one did: systemd.
///
/// Where none did, nothing is told to nobody.
struct ServiceManager: Sendable {
    /// What it wants to know.
    enum Message: Hashable, Sendable {
        /// The service is up, or is done with reading its settings again.
        case ready
        /// What it does, for people.
        case status(String)
        /// It is alive.
        case watchdog
        /// It reads its settings again.
        case reloading
        /// It ends.
        case stopping
    }

    /// The manager ends a service that it has not heard of for this long; nil if it doesn't.
    let watchdogInterval: Duration?

    init() {
        var microseconds: UInt64 = 0
        let isWatched = sd_watchdog_enabled(0, &microseconds) > 0
        watchdogInterval = isWatched ? .microseconds(Int64(clamping: microseconds)) : nil
    }

    /// Tells it. That it could not be told ends no service.
    func tell(_ messages: Message...) {
        _ = sd_notify(0, messages.map(Self.text).joined(separator: "\n"))
    }

    private static func text(_ message: Message) -> String {
        switch message {
        case .ready: return "READY=1"
        case .status(let text): return "STATUS=" + text.split(whereSeparator: \.isNewline).joined(separator: " ")
        case .watchdog: return "WATCHDOG=1"
        case .reloading:
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return "RELOADING=1\nMONOTONIC_USEC=\(Int(time.tv_sec) * 1_000_000 + Int(time.tv_nsec) / 1000)"
        case .stopping: return "STOPPING=1"
        }
    }
}
