/// A store of the partitions' states, with compare-and-set.
package protocol SnapshotStore: Sendable {
    /// Returns the state of a partition with its revision; nil before the first one.
    func load(partition: Int) async throws(FleetStoreError) -> StoredSnapshot?

    /// Writes the state of a partition if the revision hasn't changed.
    ///
    /// - Parameter revision: the revision that the write replaces; nil if the partition must have no state.
    /// - Returns: the new revision.
    /// - Throws: `.conflict` if the revision has changed, `.tooLarge` if the store doesn't accept the bytes,
    ///   `.unavailable` if the store doesn't answer.
    func store(_ bytes: [UInt8], partition: Int, replacing revision: UInt64?) async throws(FleetStoreError) -> UInt64
}

/// A stored state of a partition.
package struct StoredSnapshot: Hashable, Sendable {
    /// The bytes of a `PartitionState`.
    package var bytes: [UInt8]
    /// The revision, which increases with each write.
    package var revision: UInt64

    /// Creates a stored state.
    package init(bytes: [UInt8], revision: UInt64) {
        self.bytes = bytes
        self.revision = revision
    }
}
