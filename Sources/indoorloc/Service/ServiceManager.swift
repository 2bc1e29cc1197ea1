import CSystemd
import Foundation

/// The service manager that started this process: systemd.
///
/// Without a service manager, messages are discarded.
package struct ServiceManager: Sendable {
    /// A message to the service manager.
    package enum Message: Hashable, Sendable {
        /// The service is ready, or has finished reloading its settings.
        case ready
        /// The service's status in words.
        case status(String)
        /// The service is alive.
        case watchdog
        /// The service reloads its settings.
        case reloading
        /// The service ends.
        case stopping
    }

    /// The time without a watchdog message after which the manager ends the service; nil if it has no watchdog.
    package let watchdogInterval: Duration?

    package init() {
        var microseconds: UInt64 = 0
        let isWatched = sd_watchdog_enabled(0, &microseconds) > 0
        watchdogInterval = isWatched ? .microseconds(Int64(clamping: microseconds)) : nil
    }

    /// Sends messages to the service manager; a failure is ignored.
    package func notify(_ messages: Message...) {
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
