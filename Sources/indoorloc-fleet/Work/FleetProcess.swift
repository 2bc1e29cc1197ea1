import Foundation
import IndoorLocalization
import NATSLog
import TagTracking
import TagTrackingService
import indoorloc

/// The name of a process among the members of its group.
enum MemberName {
    static let option = CommandOption(
        name: "name", argument: "NAME", help: "name of this process in the log (default: the host name)")

    /// Returns a name that no other process has: the given one with the process's number and a random one.
    static func unique(_ arguments: ParsedArguments) -> String {
        let given = arguments.value("name") ?? ProcessInfo.processInfo.hostName
        return "\(given)-\(getpid())-\(String(UInt32.random(in: .min ... .max), radix: 36))"
    }
}

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

extension ReloadSignal {
    /// Reads a register again on each signal; nil if none was given.
    convenience init(_ register: ReloadedFile<TagRegister>?) {
        self.init {
            guard let register else {
                return StandardError.line("there is no register (--tags) to read again", .notice)
            }
            register.reload()
        }
    }
}

/// The log of this command, for closures that run outside of its task.
struct ProcessLog: Sendable {
    private let settings = StandardError.logSettings

    /// Writes a line on standard error.
    func line(_ text: String, _ level: LogLevel) {
        StandardError.$logSettings.withValue(settings) { StandardError.line(text, level) }
    }
}

/// The task of a worker that merges the statistics of the receivers with those of the other workers, and reports changes
/// of the receivers' health, and gateways that the venue doesn't have.
struct ReceiverWatch: Sendable {
    /// The time between two tests of the receivers' health.
    private static let interval = Duration.seconds(5)
    /// The number of tests between two exchanges with the other workers.
    private static let testsPerExchange = 2

    let receivers: WorkerReceivers
    let store: NATSReceiverStore
    let counters: WorkerCounters
    let sink: OutputSinks
    let log: ProcessLog
    let unixTime: @Sendable () -> Instant

    /// Runs until the task is cancelled.
    func run() async {
        var tests = 0
        var isFailing = false
        var unknownGateways = UnknownGatewayLog()
        while (try? await Task.sleep(for: Self.interval)) != nil {
            if tests.isMultiple(of: Self.testsPerExchange) {
                do throws(FleetStoreError) {
                    try await store.store(receivers.snapshot)
                    receivers.setOthers(try await store.others())
                    isFailing = false
                } catch {
                    if !isFailing { log.line("the receivers' statistics aren't shared: \(error)", .warning) }
                    isFailing = true
                }
            }
            tests += 1
            // The evidence is as old as the latest readings.
            let events = receivers.advance(to: unixTime().advanced(by: .zero - counters.lag))
            for event in events { log.line(event.logLine, event.logLevel) }
            let activity = receivers.activity
            for line in unknownGateways.lines(about: activity.unknownGateways) { log.line(line, .warning) }
            if !events.isEmpty { await sink.write(events) }
            await sink.write(activity)
        }
    }
}
