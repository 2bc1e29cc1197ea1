import Dispatch
import Glibc
import IndoorVocabulary
import TagTracking

/// The log of a fleet's readings in the JetStream stream `READINGS`.
///
/// A reading has the subject `readings.PARTITION.TAG`. `append(_:)` returns after the server has acknowledged all
/// readings: then a majority of the stream's replicas has stored each of them.
package final class NATSReadingLog: ReadingLog {
    /// The largest number of readings that wait for their acknowledgement.
    static let mostPending = 4_096
    /// The time to wait for acknowledgements in milliseconds before the readings are sent again.
    private static let acknowledgementTime: Int64 = 2_000
    /// The pauses before readings are sent again, in microseconds.
    private static let pauses: [UInt32] = [50_000, 100_000, 200_000, 400_000]

    private let connection: NATSConnection
    private let partitioning: Partitioning
    private let publisher: NATSPublisher
    private let failures: Failures
    private let pulse: NATSPulse
    /// The queue of all appends, in their order. It blocks while acknowledgements are missing.
    private let queue = DispatchQueue(label: "IndoorLocalization.NATSPublisher", qos: .userInitiated)
    private let resent = Guarded(0)

    /// The failures of messages.
    private final class Failures: Sendable {
        private let latest = Guarded<(count: Int, failure: NATSFailure?)>((0, nil))

        func record(_ failure: NATSFailure) { latest.withLock { $0 = ($0.count + 1, failure) } }

        func take() -> NATSFailure? {
            latest.withLock { latest in
                defer { latest = (0, nil) }
                return latest.failure
            }
        }
    }

    /// Opens the log.
    ///
    /// - Throws: `.misconfigured` if the stream doesn't exist.
    package init(_ connection: NATSConnection, partitioning: Partitioning) async throws(FleetStoreError) {
        self.connection = connection
        self.partitioning = partitioning
        let failures = Failures()
        self.failures = failures
        publisher = try await NATSPublisher(
            connection, stream: FleetNames.stream, mostPending: Self.mostPending, patience: Self.acknowledgementTime
        ) { failures.record($0) }
        pulse = NATSPulse()
    }

    /// The number of times that a batch was sent again.
    package var resentBatches: Int { resent.withLock(\.self) }

    package func append(_ readings: [TagReading]) async throws(FleetStoreError) {
        let isCancelled = Flag()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [self] in
                    var result = Result<Void, FleetStoreError>.success(())
                    var rest = readings[...]
                    while case .success = result, !rest.isEmpty {
                        let part = rest.prefix(Self.mostPending)
                        rest = rest.dropFirst(part.count)
                        result = Result { () throws(FleetStoreError) in try store(part, isCancelled) }
                    }
                    continuation.resume(returning: result)
                }
            }
        } onCancel: {
            isCancelled.raise()
        }
        try result.get()
    }

    /// Sends readings until all are acknowledged. If an acknowledgement is missing, all are sent again, and the server
    /// drops the duplicates by their identifiers.
    private func store(_ readings: ArraySlice<TagReading>, _ isCancelled: Flag) throws(FleetStoreError) {
        for attempt in 0... {
            if attempt > 0 { resent.withLock { $0 += 1 } }
            guard let failure = send(readings) else { return }
            let error = failure.error(key: FleetNames.stream, limit: connection.largestMessage)
            guard error.isTransient, !isCancelled.isRaised else { throw error }
            usleep(Self.pauses[min(attempt, Self.pauses.count - 1)])
        }
    }

    /// Sends readings once; returns nil if all were acknowledged.
    private func send(_ readings: ArraySlice<TagReading>) -> NATSFailure? {
        _ = failures.take()
        var failure: NATSFailure?
        do throws(NATSFailure) {
            for reading in readings {
                try publisher.send(
                    reading.encoded(), to: FleetNames.subject(of: reading.tag, in: partitioning), id: reading.logID)
            }
        } catch { failure = error }
        do throws(NATSFailure) {
            try publisher.flush(within: failure == nil ? Self.acknowledgementTime : 1)
        } catch { failure = failure ?? error }
        if let reported = failures.take() { failure = reported }
        // Later acknowledgements of this attempt are ignored.
        if failure != nil { publisher.forget() }
        return failure
    }

    package func reader(
        ofPartition partition: Int, after sequence: UInt64
    ) async throws(FleetStoreError) -> any ReadingLogReader {
        let reader = NATSLogReader(connection, pulse, partition: partition, after: sequence)
        try await reader.subscribe()
        return reader
    }
}

/// A flag that one thread raises and another one reads.
final class Flag: Sendable {
    private let state = Guarded(false)

    var isRaised: Bool { state.withLock(\.self) }

    func raise() { state.withLock { $0 = true } }
}
