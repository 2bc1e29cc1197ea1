import NATSLog
import TagTracking
import TagTrackingService

/// The outputs of a fleet as messages of NATS: the JSON of an output under `positions.TAG`.
///
/// A worker stores a state after the server has confirmed the outputs before it. After a broken connection, it emits the
/// outputs again that follow the stored state.
struct NATSOutputSink: FleetOutputSink, OutputConfirmation {
    let connection: NATSConnection

    func write(_ outputs: [FleetOutput]) async {
        for output in outputs {
            connection.publish(Array(output.json.utf8), subject: FleetNames.outputSubject(of: output.tag))
        }
    }

    var losses: Int { connection.losses }

    func flush() async -> Bool { await connection.flush() }
}

/// Several sinks, which receive the same outputs one after the other.
struct OutputSinks: FleetOutputSink {
    let sinks: [any FleetOutputSink]

    func write(_ outputs: [FleetOutput]) async {
        for sink in sinks { await sink.write(outputs) }
    }
}
