import IndoorLocalization
import NATSLog
import TagHistory
import TagTracking

/// The outputs that the workers of a fleet publish on a NATS server.
///
/// The source acknowledges outputs after the database has committed them. The server redelivers the others, even to a
/// later process.
struct NATSOutputSource: OutputSource {
    /// The largest number of outputs of a batch. It is smaller than the queue of a store, so that no output is lost.
    private static let batchSize = 1_000
    /// The time to wait for an output before checking whether the task is cancelled.
    private static let patience = Duration.milliseconds(500)
    /// The pause after a failure.
    private static let pause = Duration.milliseconds(500)

    let servers: NATSServerOptions

    func run(into store: HistoryStore, _ report: @escaping @Sendable (StoreRun.Event) -> Void) async {
        do {
            try await servers.withConnection(name: "indoorloc-fleet store", isPatient: true) { connection in
                let reader = NATSOutputReader(connection, consumer: FleetNames.databaseConsumer)
                defer { reader.close() }
                try await follow(reader, store, report)
            }
        } catch {
            if !Task.isCancelled { report(.failed(error)) }
        }
    }

    private func follow(
        _ reader: NATSOutputReader, _ store: HistoryStore, _ report: (StoreRun.Event) -> Void
    ) async throws {
        var isConnected = false
        while !Task.isCancelled {
            do throws(FleetStoreError) {
                let batch = try await reader.next(atMost: Self.batchSize, within: Self.patience)
                if !isConnected { report(.connected(to: "NATS")) }
                isConnected = true
                guard !batch.payloads.isEmpty else { continue }
                store.add(outputs(of: batch, report))
                if await store.waitUntilStored() { await reader.acknowledge(batch) }
            } catch {
                guard error.isTransient else { throw error }
                if isConnected { report(.disconnected(error)) }
                isConnected = false
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Returns the valid outputs of a batch. The invalid ones are dropped, because a retry can't make them valid.
    private func outputs(of batch: NATSOutputReader.Batch, _ report: (StoreRun.Event) -> Void) -> [FleetOutput] {
        batch.payloads.compactMap { payload in
            do throws(FleetOutputError) { return try FleetOutput(json: payload) } catch {
                report(.invalid(topic: FleetNames.outputStream, error))
                return nil
            }
        }
    }
}
