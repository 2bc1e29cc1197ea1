import Foundation
import IndoorLocalization
import Synchronization

/// What work brings, with ticks, signals and a time limit among it, in the order in which they come.
final class LiveWork<Element: Sendable> {
    /// What happens, until the work is stopped.
    let occurrences = LiveMailbox<Element>()
    private let work: Task<Void, Never>
    private let timers: [any DispatchSourceProtocol]

    /// Begins the work.
    ///
    /// - Parameters:
    ///   - limit: after which it is interrupted; nil for none.
    ///   - body: the work, which hands on what it brings, and ends when its task is cancelled.
    init(
        tick: Duration, limit: Duration?,
        _ body: @escaping @Sendable (_ give: @escaping @Sendable (Element) -> Void) async throws -> Void
    ) {
        // Whoever reads the lines may end first; the file that is recorded must still be completed.
        Glibc.signal(SIGPIPE, SIG_IGN)
        let occurrences = occurrences
        work = Task {
            do {
                try await body { occurrences.put(.element($0)) }
                occurrences.put(.ended(nil))
            } catch { occurrences.put(.ended(error)) }
        }
        var timers = [Self.timer(every: tick) { occurrences.put(.tick) }]
        if let limit { timers.append(Self.timer(every: limit) { occurrences.put(.limitReached) }) }
        let interruptions = Interruptions()
        for signal in [SIGINT, SIGTERM] {
            // The dispatch source hears it; what the signal would do otherwise must not happen.
            Glibc.signal(signal, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: signal)
            source.setEventHandler {
                switch interruptions.take(at: .now) {
                case .first: occurrences.put(.interrupted)
                case .echo: break
                // Whoever asks again does not want to wait for a clean end.
                case .again: _exit(128 + signal)
                }
            }
            source.activate()
            timers.append(source)
        }
        self.timers = timers
    }

    /// Hands on what happens until the work is over and all of it is written, or until it is interrupted.
    ///
    /// - Parameter take: takes in what happens; returns whether all that it has to say is written.
    /// - Throws: what ended the work, or what `take` throws.
    func follow(_ take: (LiveOccurrence<Element>) throws -> Bool) async throws {
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
            guard try take(occurrence), isOver else { continue }
            if let failure { throw failure }
            return
        }
    }

    /// Ends the work: once this returns, it has let go of what it held, such as a radio. Tells what was lost.
    func stop() async {
        let lost = occurrences.lost
        if lost > 0 { StandardError.line("\(lost) readings or news were lost, as they came too fast") }
        timers.forEach { $0.cancel() }
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

/// Tells when the work was asked to end; a class, as the handlers of both signals share it.
private final class Interruptions: Sendable {
    enum Request {
        case first
        /// The first one once more: `timeout` sends its signal to the program and to its group, `sudo` passes on what the
        /// terminal has sent already.
        case echo
        case again
    }

    /// No person asks twice within this time.
    private static let echoTime = Duration.milliseconds(500)
    private let first = Mutex<ContinuousClock.Instant?>(nil)

    func take(at now: ContinuousClock.Instant) -> Request {
        first.withLock { first in
            guard let earlier = first else {
                first = now
                return .first
            }
            return earlier.duration(to: now) < Self.echoTime ? .echo : .again
        }
    }
}
