import NATSLog
import TagTracking
import TagTrackingService

/// The outputs of a fleet in a stream of NATS: the JSON of an output under `positions.TAG`.
///
/// A worker stores a state only after the stream has stored the outputs before it. After a failure, it emits the
/// outputs after the stored state again.
struct NATSOutputSink: FleetOutputSink, OutputConfirmation {
    let publisher: NATSOutputPublisher

    func write(_ outputs: [FleetOutput]) async { await publisher.publish(outputs) }

    var losses: Int { publisher.losses }

    func flush() async -> Bool { await publisher.flush() }
}

/// Several sinks, which receive the same outputs one after the other.
struct OutputSinks: FleetOutputSink {
    let sinks: [any FleetOutputSink]

    func write(_ outputs: [FleetOutput]) async {
        for sink in sinks { await sink.write(outputs) }
    }

    func write(_ events: [ReceiverEvent]) async {
        for sink in sinks { await sink.write(events) }
    }
}
