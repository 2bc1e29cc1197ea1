import NATSLog
import TagTracking
import TagTrackingService

/// The outputs of a fleet as messages of NATS: the JSON of an output under `positions.TAG`.
///
/// A message is not acknowledged. A worker that continues after another one emits the outputs again that follow the last
/// stored state.
struct NATSOutputSink: FleetOutputSink {
    let connection: NATSConnection

    func write(_ outputs: [FleetOutput]) async {
        for output in outputs {
            _ = connection.publish(Array(output.json.utf8), subject: FleetNames.outputSubject(of: output.tag))
        }
    }
}

/// Several sinks, which receive the same outputs one after the other.
struct OutputSinks: FleetOutputSink {
    let sinks: [any FleetOutputSink]

    func write(_ outputs: [FleetOutput]) async {
        for sink in sinks { await sink.write(outputs) }
    }
}
