import IndoorVocabulary
import SessionMetrics
import TagTracking
import VenueModel

/// The receivers of a fleet as one of several workers observes them.
///
/// The worker's own monitor has the evidence of the worker's partitions. Workers exchange the states of their monitors;
/// each merges those of the others with its own, so that all have nearly the same offsets and health.
package final class WorkerReceivers: Sendable {
    private struct State: Sendable {
        var own: ReceiverMonitor
        var others: [ReceiverMonitor] = []
        /// The worker's own monitor merged with those of the others. Its offsets and health are used.
        var merged: ReceiverMonitor
        var now = Instant(nanoseconds: .min)
    }

    private let venue: Venue
    private let state: Guarded<State>

    /// Creates the receivers of a venue, without evidence.
    package init(venue: Venue) {
        self.venue = venue
        let monitor = ReceiverMonitor(venue: venue)
        state = Guarded(State(own: monitor, merged: monitor))
    }

    /// The offset of each receiver in dB.
    package var offsets: [Double] { state.withLock(\.merged.offsets) }

    /// The health of a receiver; nil for a name that the venue doesn't have.
    package func health(of receiver: String) -> ReceiverEvent.Health? {
        state.withLock { $0.merged.health(of: receiver) }
    }

    /// The metrics of the receivers.
    package var families: [MetricFamily] { state.withLock(\.merged.families) }

    /// Takes the evidence of a partition's machine, and sets its offsets.
    package func exchange(with machine: inout FleetMachine) {
        observe(machine.takeReceiverEvidence())
        let offsets = offsets
        if machine.receiverOffsets != offsets { machine.receiverOffsets = offsets }
    }

    /// Adds evidence of this worker.
    package func observe(_ evidence: ReceiverEvidence) { state.withLock { $0.own.observe(evidence) } }

    /// The state of the worker's own monitor, for the other workers.
    package var snapshot: [UInt8] { state.withLock(\.own).snapshot() }

    /// Replaces the states of the other workers. Those that can't be read, such as one of another version, are left out.
    package func setOthers(_ snapshots: [[UInt8]]) {
        let others = snapshots.compactMap { try? ReceiverMonitor(venue: venue, restoring: $0) }
        state.withLock { $0.others = others }
    }

    /// Merges the monitors, and returns the changes of health until an instant on the timeline of the readings.
    package func advance(to now: Instant) -> [ReceiverEvent] {
        state.withLock { state in
            state.now = max(state.now, now)
            // This advance makes the worker's own monitor discard old evidence. The health is that of the merged
            // monitor.
            _ = state.own.advance(to: state.now)
            var merged = state.others.reduce(state.own) { $0.merged(with: $1) }
            merged.continueHealth(of: state.merged)
            let events = merged.advance(to: state.now)
            state.merged = merged
            state.own.continueHealth(of: merged)
            return events
        }
    }
}
