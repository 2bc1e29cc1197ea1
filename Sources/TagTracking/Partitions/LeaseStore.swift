/// A store of leases, which expire unless their owner renews them.
package protocol LeaseStore: Sendable {
    /// Returns the leases and the members of a group that have not expired.
    func list(_ group: LeaseGroup) async throws(FleetStoreError) -> LeaseList

    /// Writes the owner of a lease if the revision hasn't changed. The lease expires after the store's time to live,
    /// unless it is written again.
    ///
    /// - Parameters:
    ///   - owner: the owner; empty for a free lease.
    ///   - revision: the revision that the write replaces; nil if the lease must not exist or must have expired.
    /// - Returns: the new revision.
    /// - Throws: `.conflict` if the revision has changed, `.unavailable` if the store doesn't answer.
    func write(
        lease index: Int, of group: LeaseGroup, owner: String, replacing revision: UInt64?
    ) async throws(FleetStoreError) -> UInt64

    /// Announces a member of a group until the time to live has passed, or removes it.
    func announce(_ member: String, of group: LeaseGroup, isPresent: Bool) async throws(FleetStoreError)
}

/// The processes that share leases.
package enum LeaseGroup: String, Hashable, Sendable, CaseIterable {
    /// Workers, which share the partitions of the tags.
    case work
    /// Ingests, which share the groups of gateways.
    case ingest
}

/// The leases and members of a group.
package struct LeaseList: Hashable, Sendable {
    /// A stored lease.
    package struct Lease: Hashable, Sendable {
        /// The name of the owner; empty if the lease is free.
        package var owner: String
        /// The revision, which increases with each write.
        package var revision: UInt64

        /// Creates a lease.
        package init(owner: String, revision: UInt64) {
            self.owner = owner
            self.revision = revision
        }
    }

    /// The leases by index. A lease that doesn't exist or has expired is missing.
    package var leases: [Int: Lease]
    /// The names of the members.
    package var members: Set<String>

    /// Creates a list.
    package init(leases: [Int: Lease] = [:], members: Set<String> = []) {
        self.leases = leases
        self.members = members
    }
}
