import Dispatch
import Foundation
import IndoorLocalization

/// What can happen while a radio scans.
enum ScanOccurrence: Sendable {
    case reading(SensorReading)
    /// It is time to show what there is.
    case tick
    /// The scan is over, by itself or with an error.
    case ended((any Error)?)
    /// The person at the keyboard, the system, or the time limit ended it.
    case interrupted
}

/// A source's readings with ticks, signals and a time limit among them, in the order in which they come.
final class LiveScan {
    /// What happens; it ends with `.ended` or `.interrupted`.
    let occurrences: AsyncStream<ScanOccurrence>
    private let reading: Task<Void, Never>
    private let timers: [any DispatchSourceProtocol]

    /// Begins to scan.
    ///
    /// - Parameter limit: after which the scan is interrupted; nil for none.
    init(_ source: any ScanSource, tick: Duration, limit: Duration?) {
        // Whoever reads the lines may end first; the file that is recorded must still be completed.
        Glibc.signal(SIGPIPE, SIG_IGN)
        let (occurrences, continuation) = AsyncStream.makeStream(of: ScanOccurrence.self)
        self.occurrences = occurrences
        reading = Task {
            do {
                for try await reading in source.readings() { continuation.yield(.reading(reading)) }
                continuation.yield(.ended(nil))
            } catch { continuation.yield(.ended(error)) }
        }
        var timers = [Self.timer(every: tick) { continuation.yield(.tick) }]
        if let limit { timers.append(Self.timer(every: limit) { continuation.yield(.interrupted) }) }
        for signal in [SIGINT, SIGTERM] {
            // The dispatch source hears it; what the signal would do otherwise must not happen.
            Glibc.signal(signal, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: signal)
            source.setEventHandler { continuation.yield(.interrupted) }
            source.activate()
            timers.append(source)
        }
        self.timers = timers
    }

    /// Ends the scan: once this returns, the source has let go of the radio.
    func stop() async {
        timers.forEach { $0.cancel() }
        reading.cancel()
        await reading.value
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
