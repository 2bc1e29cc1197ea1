import TagTracking

/// The states of the partitions in the bucket `indoorloc-state`.
package struct NATSSnapshotStore: SnapshotStore {
    private let bucket: NATSBucket

    /// Opens the store.
    ///
    /// - Throws: `.misconfigured` if the bucket doesn't exist.
    package init(_ connection: NATSConnection) async throws(FleetStoreError) {
        bucket = try await NATSBucket(connection, name: FleetNames.states)
    }

    package func load(partition: Int) async throws(FleetStoreError) -> StoredSnapshot? {
        try await bucket.value(of: FleetNames.key(ofPartition: partition)).map {
            StoredSnapshot(bytes: $0.value, revision: $0.revision)
        }
    }

    package func store(
        _ bytes: [UInt8], partition: Int, replacing revision: UInt64?
    ) async throws(FleetStoreError) -> UInt64 {
        try await bucket.write(
            bytes, key: FleetNames.key(ofPartition: partition), revision.map { .revision($0) } ?? .absent)
    }

    /// Returns the numbers of partitions and of gateway groups that `indoorloc-fleet setup` stored for all processes of
    /// the fleet.
    package func partitioning() async throws(FleetStoreError) -> Partitioning {
        let key = "\(bucket.name)/\(FleetNames.partitioning)"
        guard let value = try await bucket.value(of: FleetNames.partitioning)?.value else {
            throw .misconfigured(reason: "\(key) is missing; run 'indoorloc-fleet setup' first")
        }
        let numbers = String(decoding: value, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 2, (1...1024).contains(numbers[0]), (1...256).contains(numbers[1]) else {
            throw .damaged(key: key, reason: "expected the numbers of partitions and of groups, such as '64 16'")
        }
        return Partitioning(partitions: numbers[0], gatewayGroups: numbers[1])
    }

    /// The current states of the partitions, and each later write. A slow reader gets the newest states.
    package func states() -> some AsyncSequence<(partition: Int, state: PartitionState), Never> & Sendable {
        bucket.changes().compactMap { entry in
            guard let partition = FleetNames.partition(ofKey: entry.key),
                let state = try? PartitionState(entry.value, key: entry.key)
            else { return nil }
            return (partition, state)
        }
    }

    /// Stores the numbers of partitions and of gateway groups; returns false if the fleet has the same numbers already.
    ///
    /// - Throws: `.misconfigured` if the fleet has other numbers.
    func set(_ partitioning: Partitioning) async throws(FleetStoreError) -> Bool {
        let text = "\(partitioning.partitions) \(partitioning.gatewayGroups)"
        do throws(FleetStoreError) {
            _ = try await bucket.write(Array(text.utf8), key: FleetNames.partitioning, .absent)
            return true
        } catch {
            guard case .conflict = error else { throw error }
            let known = try await self.partitioning()
            guard known == partitioning else {
                throw .misconfigured(
                    reason: "the fleet has \(known.partitions) partitions and \(known.gatewayGroups) groups of "
                        + "gateways; other numbers require a new bucket \(bucket.name)")
            }
            return false
        }
    }
}

/// The leases of a fleet in the bucket `indoorloc-leases`.
package struct NATSLeaseStore: LeaseStore {
    private let bucket: NATSBucket

    /// Opens the store.
    ///
    /// - Throws: `.misconfigured` if the bucket doesn't exist.
    package init(_ connection: NATSConnection) async throws(FleetStoreError) {
        bucket = try await NATSBucket(connection, name: FleetNames.leases)
    }

    package func list(_ group: LeaseGroup) async throws(FleetStoreError) -> LeaseList {
        var list = LeaseList()
        for entry in try await entries(of: group) {
            let value = String(decoding: entry.value, as: UTF8.self)
            if let index = entry.lease {
                list.leases[index] = LeaseList.Lease(owner: value, revision: entry.revision)
            } else if !value.isEmpty {
                list.members.insert(value)
            }
        }
        return list
    }

    /// A stored lease or member with the time of its write.
    package struct Entry: Hashable, Sendable {
        /// The index of the lease; nil for a member.
        package var lease: Int?
        var value: [UInt8]
        /// The owner of the lease, or the name of the member.
        package var owner: String { String(decoding: value, as: UTF8.self) }
        /// The revision.
        package var revision: UInt64
        /// The time of the write by the server's clock, in nanoseconds since 1970.
        package var writtenAt: Int64

        /// Reads a value of the bucket; nil if it belongs to another group.
        fileprivate init?(_ entry: NATSBucket.Entry, of group: LeaseGroup) {
            let (lease, member) = ("\(group.rawValue).lease.", "\(group.rawValue).member.")
            guard entry.key.hasPrefix(lease) || entry.key.hasPrefix(member) else { return nil }
            self.lease = entry.key.hasPrefix(lease) ? Int(entry.key.dropFirst(lease.count)) : nil
            value = entry.value
            revision = entry.revision
            writtenAt = entry.writtenAt
        }
    }

    private func entries(of group: LeaseGroup) async throws(FleetStoreError) -> [Entry] {
        try await bucket.all().compactMap { Entry($0, of: group) }
    }

    /// The current leases and members of a group, and each later write. A slow reader gets the newest ones.
    package func changes(of group: LeaseGroup) -> some AsyncSequence<Entry, Never> & Sendable {
        bucket.changes().compactMap { Entry($0, of: group) }
    }

    package func write(
        lease index: Int, of group: LeaseGroup, owner: String, replacing revision: UInt64?
    ) async throws(FleetStoreError) -> UInt64 {
        try await bucket.write(
            Array(owner.utf8), key: "\(group.rawValue).lease.\(index)", revision.map { .revision($0) } ?? .absent)
    }

    package func announce(
        _ member: String, of group: LeaseGroup, isPresent: Bool
    ) async throws(FleetStoreError) {
        _ = try await bucket.write(
            isPresent ? Array(member.utf8) : [], key: "\(group.rawValue).member.\(Partitioning.token(member))", .any)
    }
}
