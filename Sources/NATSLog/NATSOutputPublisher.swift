import IndoorVocabulary
import TagTracking

/// The publisher of a fleet's outputs in the JetStream stream `POSITIONS`.
///
/// The server acknowledges each output when the stream has stored it. ``flush()`` waits for the acknowledgements.
package final class NATSOutputPublisher: Sendable {
    /// The largest number of outputs that wait for their acknowledgement.
    private static let mostPending = 16_384

    private let connection: NATSConnection
    private let publisher: NATSPublisher
    private let failures: Failures

    /// The failures of outputs.
    private final class Failures: Sendable {
        private let state = Guarded(0)

        var count: Int { state.withLock(\.self) }

        func record() { state.withLock { $0 += 1 } }
    }

    /// Opens the publisher.
    ///
    /// - Throws: `.misconfigured` if the stream doesn't exist.
    package init(_ connection: NATSConnection) async throws(FleetStoreError) {
        self.connection = connection
        let failures = Failures()
        self.failures = failures
        publisher = try await NATSPublisher(
            connection, stream: FleetNames.outputStream, mostPending: Self.mostPending,
            patience: NATSConnection.requestTime
        ) { _ in failures.record() }
    }

    /// The number of failures so far in which outputs may have been lost.
    package var losses: Int { failures.count }

    /// Sends outputs. The server acknowledges them later.
    package func publish(_ outputs: [FleetOutput]) async {
        let (publisher, failures) = (publisher, failures)
        _ = try? await connection.blocking(key: FleetNames.outputStream) { () throws(NATSFailure) in
            do throws(NATSFailure) {
                for output in outputs {
                    try publisher.send(Array(output.json.utf8), to: FleetNames.outputSubject(of: output.tag))
                }
            } catch {
                // Don't send the outputs after the lost one: the worker emits all of them again.
                failures.record()
            }
        }
    }

    /// Waits until the stream has all outputs so far; returns false if the server doesn't acknowledge them in time.
    package func flush() async -> Bool {
        let (publisher, failures) = (publisher, failures)
        let isComplete = try? await connection.blocking(key: FleetNames.outputStream) { () throws(NATSFailure) in
            do throws(NATSFailure) {
                try publisher.flush(within: NATSConnection.requestTime)
                return true
            } catch {
                // The pending outputs may belong to several partitions; each partition reads the count after the flush.
                failures.record()
                publisher.forget()
                return false
            }
        }
        return isComplete ?? false
    }
}
