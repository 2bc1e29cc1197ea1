import IndoorLocalization
import NATSLog
import TagTracking
import TagTrackingService
import indoorloc

/// The task of a worker that merges the statistics of the receivers with those of the other workers, and reports changes
/// of the receivers' health.
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
            if !events.isEmpty { await sink.write(events) }
        }
    }
}
