import CPrivileges
import CSystemd
import Foundation
import IndoorLocalization
import VenuePackets

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

/// The status that a service reports to its manager.
struct ServiceStatus {
    /// Whether the service was reported as ready.
    private(set) var isReady = false
    private var state = LocalizationState.idle
    private var hasEnded = false
    private var positions = 0
    private var trouble: String?
    /// The reason for the absence of positions; nil while there is none.
    private var diagnosis: SessionDiagnosis?
    /// The problem that the session reported last; nil after its end. It can outlast a change of the state.
    private var reported: SessionDiagnosis.Reason?

    /// Updates the status with an output of the session; returns the messages for the manager.
    mutating func observe(_ content: SessionReplay.Output.Content) -> [ServiceManager.Message] {
        switch content {
        case .state(let state):
            hasEnded = state == .idle
            self.state = state
            trouble = nil
            diagnosis = nil
            if state.isOver { reported = nil }
            return becomeReady(if: Self.isUp(state)) + [.status(text)]
        case .position:
            positions += 1
            return []
        case .error(let error):
            // A service whose venue server can't be reached is ready: it tries again.
            trouble = PrintableText.line(error.message)
            return becomeReady(if: !error.endsSession) + [.status(text)]
        case .diagnosis(let diagnosis):
            // The diagnosis explains the error.
            trouble = nil
            self.diagnosis = diagnosis.reason.isProblem ? diagnosis : nil
            reported = self.diagnosis?.reason
            return [.status(text)]
        case .outdoorPosition, .motion, .event, .interaction, .downloadedVenue: return []
        }
    }

    /// The status in words.
    var text: String {
        let count = (positions == 1 ? "1 position" : "\(positions) positions") + (hasEnded ? "" : " so far")
        let what =
            switch state {
            case .idle where hasEnded: "ended"
            case .idle, .started: "starting"
            case .searchVenue: "searching for a venue"
            case .getPacket(let id, let progress): "fetching venue \(id): \(Int(progress * 100)) %"
            case .findFloor(let venue): "in \(venue.name), finding the floor"
            case .localizationRunning(let running):
                "in \(running.venue.name), on \(running.venue.map(running.mapID)?.name ?? "map \(running.mapID)")"
            case .error(let error): error.message
            }
        let reasons = [diagnosis.map { PrintableText.line($0.clause) }, trouble].compactMap(\.self)
        return (["\(what); \(count)"] + reasons).joined(separator: "; ")
    }

    /// Whether the state has changed since the session reported a problem, which may still exist.
    var isOutdated: Bool { reported != nil && diagnosis == nil }

    /// Renews the details of the reported problem, such as its duration.
    mutating func renew(_ current: SessionDiagnosis) {
        if current.reason == reported { diagnosis = current } else if isOutdated { reported = nil }
    }

    private mutating func becomeReady(if isUp: Bool) -> [ServiceManager.Message] {
        guard isUp, !isReady else { return [] }
        isReady = true
        return [.ready]
    }

    private static func isUp(_ state: LocalizationState) -> Bool {
        switch state {
        case .idle, .started, .error: false
        case .searchVenue, .getPacket, .findFloor, .localizationRunning: true
        }
    }
}

/// The privileges that a command needs while it runs.
///
/// A service that runs for months and reads data from the network keeps only the capabilities of its radio. It must
/// keep them permanently, because the kernel checks them for each command to the radio, not only when the socket is
/// opened.
package enum ServicePrivileges {
    /// Removes the privileges that a service doesn't need. Other commands keep theirs: they end soon, and may have to
    /// write files for the user who called them with `sudo`. In commands with a radio, makes its permitted capabilities
    /// effective.
    ///
    /// Call this before the first thread starts, because capabilities belong to threads.
    ///
    /// - Parameter words: the words after the program's name.
    package static func reduce(for words: [String]) {
        switch words.first {
        case "serve":
            keep(usesRawRadio(words) ? CPRIVILEGES_RADIO : 0)
            raise()
        case "track": keep(0)
        case "scan", "locate", "regions", "rooms": raise()
        default: break
        }
    }

    /// Whether the options allow the route that needs capabilities.
    static func usesRawRadio(_ words: [String]) -> Bool {
        func gives(_ option: String, _ value: String? = nil) -> Bool {
            words.enumerated().contains { index, word in
                guard let value else { return word == option || word.hasPrefix(option + "=") }
                return word == "\(option)=\(value)" || word == option && words.dropFirst(index + 1).first == value
            }
        }
        return !gives("--replay") && !gives("--route", "dbus")
    }

    /// Without the capabilities, the command scans through bluetoothd and reports this, so an error here needs no
    /// message.
    private static func raise() { _ = cprivileges_raise(CPRIVILEGES_RADIO) }

    private static func keep(_ capabilities: UInt64) {
        let status = cprivileges_keep(capabilities)
        if status != 0 {
            StandardError.line("the privileges of the service could not be reduced (error \(-status))")
        }
    }
}
