import TagTracking

/// The receivers' statistics of all workers in the bucket `indoorloc-receivers`. They expire a minute after their worker
/// has ended.
package struct NATSReceiverStore: Sendable {
    private let bucket: NATSBucket
    private let key: String

    /// Opens the store for a worker.
    ///
    /// - Parameter worker: the name of the worker, which no other worker may have.
    /// - Throws: `.misconfigured` if the bucket doesn't exist.
    package init(_ connection: NATSConnection, worker: String) async throws(FleetStoreError) {
        bucket = try await NATSBucket(connection, name: FleetNames.receivers)
        key = "worker.\(Partitioning.token(worker))"
    }

    /// Stores the statistics of the worker.
    package func store(_ bytes: [UInt8]) async throws(FleetStoreError) {
        _ = try await bucket.write(bytes, key: key, .any)
    }

    /// Returns the statistics of the other workers.
    package func others() async throws(FleetStoreError) -> [[UInt8]] {
        try await bucket.all().filter { $0.key != key }.map(\.value)
    }
}
