import IndoorLocalization
import NATSLog
import TagTracking
import indoorloc

/// The outputs that the workers of a fleet publish on a NATS server.
///
/// The server doesn't keep them: outputs without a connection are lost.
struct NATSOutputSource: OutputSource {
    let servers: NATSServerOptions

    func run(
        _ report: @escaping @Sendable (StoreRun.Event) -> Void, _ give: @escaping @Sendable (FleetOutput) -> Void
    ) async {
        do {
            let connection = try await servers.open(name: "indoorloc-fleet store", isPatient: true)
            defer { connection.close() }
            let subscription = try NATSSubscription(FleetNames.outputSubjects, of: connection) { bytes in
                do throws(FleetOutputError) { give(try FleetOutput(json: bytes)) } catch {
                    report(.invalid(topic: FleetNames.outputSubjects, error))
                }
            }
            defer { subscription.close() }
            report(.connected(to: "NATS"))
            // libnats reconnects by itself. The sleep ends when the task is cancelled.
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
            if subscription.lost > 0 {
                StandardError.line("\(subscription.lost) outputs were lost, as they arrived too fast", .warning)
            }
        } catch {
            if !Task.isCancelled { report(.failed(error)) }
        }
    }
}
