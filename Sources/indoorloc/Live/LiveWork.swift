import Foundation
import IndoorLocalization

/// Live work whose elements are merged with ticks, signals and a time limit, in order of arrival.
package final class LiveWork<Element: Sendable> {
    /// The occurrences until the work is stopped.
    package let occurrences = LiveMailbox<Element>()
    /// The actions that run before a second signal ends the process immediately.
    let exitActions = ExitActions()
    private let work: Task<Void, Never>
    private let timers: [any DispatchSourceProtocol]
    private let signals: SignalSources

    /// Starts the work.
    ///
    /// - Parameters:
    ///   - tick: the interval of ticks.
    ///   - limit: the time limit; nil for none.
    ///   - body: the work. It passes its elements to `give`, and ends when its task is cancelled.
    package init(
        tick: Duration, limit: Duration?,
        _ body: @escaping @Sendable (_ give: @escaping @Sendable (Element) -> Void) async throws -> Void
    ) {
        // If the reader of standard output closes the pipe first, the recording must still be completed.
        Glibc.signal(SIGPIPE, SIG_IGN)
        let (occurrences, exitActions, interruptions) = (occurrences, exitActions, Interruptions())
        signals = SignalSources([SIGINT, SIGTERM]) { signal in
            switch interruptions.register(at: .now) {
            case .first: occurrences.put(.interrupted)
            case .echo: break
            // A second request ends the process immediately.
            case .again:
                exitActions.run()
                _exit(128 + signal)
            }
        }
        work = Task {
            do {
                try await body { occurrences.put(.element($0)) }
                occurrences.put(.ended(nil))
            } catch { occurrences.put(.ended(error)) }
        }
        var timers = [Self.timer(every: tick) { occurrences.put(.tick) }]
        if let limit { timers.append(Self.timer(every: limit) { occurrences.put(.limitReached) }) }
        self.timers = timers
    }

    /// Handles occurrences until the work has ended and all output is written, or until a signal interrupts it.
    ///
    /// - Parameter handle: handles an occurrence; returns whether all output is written.
    /// - Throws: the error that ended the work, or the error of `handle`.
    func follow(_ handle: (LiveOccurrence<Element>) throws -> Bool) async throws {
        var isOver = false
        var failure: (any Error)?
        for await occurrence in occurrences {
            switch occurrence {
            case .interrupted: return
            case .element where isOver: continue
            case .element, .tick: break
            case .limitReached: isOver = true
            case .ended(let error):
                isOver = true
                failure = failure ?? error
            }
            guard try handle(occurrence), isOver else { continue }
            if let failure { throw failure }
            return
        }
    }

    /// Stops the work and waits until it has released its resources, such as a radio. Reports lost elements.
    package func stop() async {
        let lost = occurrences.lost
        if lost > 0 { StandardError.line("\(lost) readings or outputs were lost, as they arrived too fast", .warning) }
        timers.forEach { $0.cancel() }
        signals.cancel()
        work.cancel()
        await work.value
    }

    private static func timer(
        every interval: Duration, _ body: @escaping @Sendable () -> Void
    ) -> any DispatchSourceProtocol {
        let timer = DispatchSource.makeTimerSource()
        let nanoseconds = DispatchTimeInterval.nanoseconds(Int(interval.nanoseconds))
        timer.schedule(deadline: .now() + nanoseconds, repeating: nanoseconds)
        timer.setEventHandler(handler: body)
        timer.activate()
        return timer
    }
}

/// Actions before the end of the process, such as restoring the terminal. A class, as the handlers of signals share it.
final class ExitActions: Sendable {
    private let actions = Guarded<[@Sendable () -> Void]>([])

    /// Adds an action.
    func add(_ action: @escaping @Sendable () -> Void) { actions.withLock { $0.append(action) } }

    /// Runs the actions.
    func run() { for action in actions.withLock(\.self) { action() } }
}

/// The requests to end the work. A class, as the handlers of both signals share it.
private final class Interruptions: Sendable {
    enum Request {
        case first
        /// A repetition of the first request: `timeout` signals both the program and its group, and `sudo` forwards a
        /// signal that the terminal has also sent.
        case echo
        case again
    }

    /// A signal within this time is a repetition, because no person repeats a request so fast.
    private static let echoTime = Duration.milliseconds(500)
    private let first = Guarded<ContinuousClock.Instant?>(nil)

    func register(at now: ContinuousClock.Instant) -> Request {
        first.withLock { first in
            guard let earlier = first else {
                first = now
                return .first
            }
            return earlier.duration(to: now) < Self.echoTime ? .echo : .again
        }
    }
}
