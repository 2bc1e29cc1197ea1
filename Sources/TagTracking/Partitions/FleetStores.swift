import IndoorVocabulary

/// The ordered log of a fleet's readings, which persists when the processes that write and read it end.
package protocol ReadingLog: Sendable {
    /// Appends readings in order, and returns after the log has acknowledged all of them.
    ///
    /// An implementation sends a reading again if an acknowledgement is missing, and gives it the same identifier, so
    /// that the log stores it once.
    ///
    /// - Throws: an error that isn't transient; or `.unavailable` if the task was cancelled. Some of the readings may be
    ///   in the log.
    func append(_ readings: [TagReading]) async throws(FleetStoreError)

    /// Returns a reader of a partition.
    ///
    /// - Parameter sequence: the last entry that the caller has; 0 for none.
    func reader(ofPartition partition: Int, after sequence: UInt64) async throws(FleetStoreError)
        -> any ReadingLogReader
}

/// A reader of one partition of a log.
package protocol ReadingLogReader: Sendable {
    /// Waits for entries, and returns those that follow, in the order of the log.
    ///
    /// - Parameters:
    ///   - count: the maximum number of entries.
    ///   - patience: the time to wait for the first entry; the batch is empty after it.
    func next(atMost count: Int, within patience: Duration) async throws(FleetStoreError) -> LogBatch

    /// Ends the reader.
    func close() async
}

/// Consecutive entries of a partition.
package struct LogBatch: Hashable, Sendable {
    /// The entries.
    package var entries: [LogEntry]
    /// The entries of the partition that follow and are known to the reader.
    package var pending: UInt64
    /// The entries whose bytes can't be read, which the reader has skipped.
    package var damaged: Int

    /// Creates a batch.
    package init(entries: [LogEntry] = [], pending: UInt64 = 0, damaged: Int = 0) {
        self.entries = entries
        self.pending = pending
        self.damaged = damaged
    }
}

/// A reading in the log of a fleet.
package struct LogEntry: Hashable, Sendable {
    /// The position in the log. Within a partition, the positions increase, but not always by 1.
    package var sequence: UInt64
    /// The time at which the log stored the reading, by the log's clock, counted from the Unix epoch.
    package var storedAt: Instant
    /// The reading.
    package var reading: TagReading

    /// Creates an entry.
    package init(sequence: UInt64, storedAt: Instant, reading: TagReading) {
        self.sequence = sequence
        self.storedAt = storedAt
        self.reading = reading
    }
}

extension TagReading {
    /// The identifier by which a log detects that a reading was sent again: receiver, tag, instant and RSSI.
    package var logID: String {
        "\(Partitioning.token(receiver)).\(Partitioning.token(tag.description)).\(instant.nanoseconds).\(rssi)"
    }
}

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

/// An error of the log, the leases or the snapshots of a fleet.
package enum FleetStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process has written the key since the given revision, so that nothing was written.
    case conflict(key: String)
    /// The store gave no answer in time. A write may have taken effect, or may still take effect.
    case unavailable(reason: String)
    /// The value is larger than the store accepts, in bytes.
    case tooLarge(key: String, bytes: Int, limit: Int)
    /// A part of the store is missing or has other settings. The text names the part and the remedy.
    case misconfigured(reason: String)
    /// The store refuses the operation for this user.
    case notPermitted(reason: String)
    /// A stored value can't be read.
    case damaged(key: String, reason: String)

    package var description: String {
        switch self {
        case .conflict(let key): "\(key): another process has written it in the meantime"
        case .unavailable(let reason): "the log doesn't answer: \(reason)"
        case .tooLarge(let key, let bytes, let limit):
            "\(key): \(bytes) bytes are more than the limit of \(limit) bytes; "
                + "use more partitions, or the class light for more tags"
        case .misconfigured(let reason): reason
        case .notPermitted(let reason): "not permitted: \(reason); grant the user access to these subjects"
        case .damaged(let key, let reason): "\(key) is damaged: \(reason)"
        }
    }

    /// Whether a later attempt can succeed without a change by a person.
    package var isTransient: Bool {
        switch self {
        case .conflict, .unavailable: true
        case .tooLarge, .misconfigured, .notPermitted, .damaged: false
        }
    }
}
