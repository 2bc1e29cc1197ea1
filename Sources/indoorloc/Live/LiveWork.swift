import Foundation
import Glibc
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
    ///   - requests: the signals that interrupt the work.
    ///   - body: the work. It passes its elements to `give`, and ends when its task is cancelled.
    package init(
        tick: Duration, limit: Duration?, requests: [Int32] = [SIGINT, SIGTERM],
        _ body: @escaping @Sendable (_ give: @escaping @Sendable (Element) -> Void) async throws -> Void
    ) {
        // If the reader of standard output closes the pipe first, the recording must still be completed.
        Glibc.signal(SIGPIPE, SIG_IGN)
        let (occurrences, exitActions, interruptions) = (occurrences, exitActions, Interruptions())
        signals = SignalSources(requests) { signal in
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

/// An occurrence during live work, which a person, the system or a time limit ends.
package enum LiveOccurrence<Element: Sendable>: Sendable {
    case element(Element)
    /// The interval for output has elapsed.
    case tick
    /// The work has ended, with an error if it failed.
    case ended((any Error)?)
    /// The time limit has been reached.
    case limitReached
    /// A signal that interrupts the work was received, such as SIGINT or SIGTERM.
    case interrupted
}

/// A bounded queue of occurrences for one reader, in order of arrival.
///
/// Elements that don't fit are lost and counted. An end is never lost. At most one tick is queued.
package final class LiveMailbox<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var occurrences: [LiveOccurrence<Element>] = []
        /// The number of popped occurrences at the start of `occurrences`.
        var start = 0
        var elements = 0
        var hasTick = false
        var lost = 0
    }

    /// The capacity in elements: enough for several seconds in a hall full of beacons.
    static var room: Int { 16_384 }

    private let state = Guarded(State())
    private let wakes: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation

    init() { (wakes, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    /// The number of lost elements.
    var lost: Int { state.withLock { $0.lost } }

    /// Appends an occurrence.
    func put(_ occurrence: LiveOccurrence<Element>) {
        state.withLock { state in
            switch occurrence {
            case .element:
                guard state.elements < Self.room else { return state.lost += 1 }
                state.elements += 1
            case .tick:
                guard !state.hasTick else { return }
                state.hasTick = true
            case .ended, .limitReached, .interrupted: break
            }
            state.occurrences.append(occurrence)
        }
        waker.yield()
    }

    private func pop() -> LiveOccurrence<Element>? {
        state.withLock { state in
            guard state.start < state.occurrences.count else { return nil }
            let occurrence = state.occurrences[state.start]
            state.start += 1
            if state.start == state.occurrences.count || state.start >= Self.room {
                state.occurrences.removeFirst(state.start)
                state.start = 0
            }
            switch occurrence {
            case .element: state.elements -= 1
            case .tick: state.hasTick = false
            case .ended, .limitReached, .interrupted: break
            }
            return occurrence
        }
    }
}

extension LiveMailbox: AsyncSequence {
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let mailbox: LiveMailbox
        fileprivate var wakes: AsyncStream<Void>.Iterator

        package mutating func next() async -> LiveOccurrence<Element>? {
            while true {
                if let occurrence = mailbox.pop() { return occurrence }
                if await wakes.next() == nil { return nil }
            }
        }
    }

    package func makeAsyncIterator() -> Iterator { Iterator(mailbox: self, wakes: wakes.makeAsyncIterator()) }
}

/// The sources of signals that a command handles itself.
///
/// Dispatch installs a signal's handler on another thread, some time after the activation of its source. If the program
/// ignored the signal before that, a signal could be lost, and the command would never end. Therefore the initializer
/// returns after the handlers are installed; until then, a signal has its default action.
package struct SignalSources {
    private let sources: [any DispatchSourceSignal]

    /// Installs handlers for signals.
    ///
    /// - Parameters:
    ///   - signals: the numbers of the signals.
    ///   - handler: handles a signal by its number.
    package init(_ signals: [Int32], _ handler: @escaping @Sendable (Int32) -> Void) {
        let installed = DispatchGroup()
        sources = signals.map { signal in
            installed.enter()
            let source = DispatchSource.makeSignalSource(signal: signal)
            source.setEventHandler { handler(signal) }
            source.setRegistrationHandler { installed.leave() }
            source.activate()
            return source
        }
        installed.wait()
    }

    /// Ends the handling.
    package func cancel() { sources.forEach { $0.cancel() } }
}

/// The signal that requests a reload of files, such as the settings: SIGHUP.
package final class ReloadSignal {
    private let source: SignalSources

    /// Handles the signal from now on: none is lost after the initializer returns.
    ///
    /// - Parameter body: runs outside of the present task, with its settings of the log.
    package init(_ body: @escaping @Sendable () -> Void) {
        let settings = StandardError.logSettings
        source = SignalSources([SIGHUP]) { _ in StandardError.$logSettings.withValue(settings) { body() } }
    }

    deinit { source.cancel() }
}
