import CNATS
import IndoorVocabulary
import TagTracking

/// A bucket of keys and values with revisions.
final class NATSBucket: Sendable {
    /// A value with its revision.
    struct Entry: Hashable, Sendable {
        var key: String
        var value: [UInt8]
        var revision: UInt64
        /// The time of the write by the server's clock, in nanoseconds since 1970.
        var writtenAt: Int64
    }

    /// The time without a value after which the bucket requests each missing value separately.
    private static let patience = Duration.milliseconds(200)

    let connection: NATSConnection
    private let store: NATSHandle
    let name: String

    /// Opens a bucket.
    ///
    /// - Throws: `.misconfigured` if it doesn't exist.
    init(_ connection: NATSConnection, name: String) async throws(FleetStoreError) {
        self.connection = connection
        self.name = name
        let context = connection.context
        store = try await connection.blocking(key: "the bucket \(name)") { () throws(NATSFailure) in
            var store: OpaquePointer?
            let status = js_KeyValue(&store, context.pointer, name)
            guard status == NATS_OK, let store else { throw NATSFailure(status) }
            return NATSHandle(pointer: store)
        }
    }

    deinit { kvStore_Destroy(store.pointer) }

    /// Returns the value of a key; nil if it doesn't exist or has expired.
    func value(of key: String) async throws(FleetStoreError) -> Entry? {
        let store = store
        return try await connection.blocking(key: "\(name)/\(key)") { () throws(NATSFailure) in
            try Self.value(of: key, in: store)
        }
    }

    private static func value(of key: String, in store: NATSHandle) throws(NATSFailure) -> Entry? {
        var entry: OpaquePointer?
        let status = kvStore_Get(&entry, store.pointer, key)
        if status == NATS_NOT_FOUND { return nil }
        guard status == NATS_OK, let entry else { throw NATSFailure(status) }
        defer { kvEntry_Destroy(entry) }
        return Entry(entry)
    }

    /// Writes a value.
    ///
    /// - Parameter condition: the revision that the write replaces, `.absent`, or `.any`.
    /// - Returns: the new revision.
    func write(_ value: [UInt8], key: String, _ condition: Condition) async throws(FleetStoreError) -> UInt64 {
        let (context, subject) = (connection.context, "$KV.\(name).\(key)")
        return try await connection.blocking(key: "\(name)/\(key)", bytes: value.count) { () throws(NATSFailure) in
            var options = jsPubOptions()
            try NATSFailure.check(jsPubOptions_Init(&options))
            switch condition {
            case .revision(let revision): options.ExpectLastSubjectSeq = revision
            case .absent: options.ExpectNoMessage = true
            case .any: break
            }
            var code = jsErrCode(0)
            var acknowledgement: UnsafeMutablePointer<jsPubAck>?
            let status = js_Publish(
                &acknowledgement, context.pointer, subject, value, Int32(value.count), &options, &code)
            guard status == NATS_OK, let acknowledgement else { throw NATSFailure(status, code: code) }
            defer { jsPubAck_Destroy(acknowledgement) }
            return acknowledgement.pointee.Sequence
        }
    }

    /// The condition of a write.
    enum Condition: Hashable, Sendable {
        case revision(UInt64)
        case absent
        case any
    }

    /// The name of the stream with the values.
    private var stream: String { "KV_\(name)" }
    /// The part of a subject before the key.
    private var prefix: String { "$KV.\(name)." }

    /// Returns a reader of the current values, and of the changes after them. This function blocks.
    func subscribe() throws(NATSFailure) -> OrderedSubscription {
        try OrderedSubscription(connection, stream: stream, subject: prefix + ">") {
            $0.DeliverPolicy = js_DeliverLastPerSubject
        }
    }

    /// Returns the key and the entry of a message; no entry if it deletes the value.
    func entry(_ message: borrowing OrderedMessage) -> (key: String, entry: Entry?) {
        let key = String(message.subject.dropFirst(prefix.count))
        guard message.header("KV-Operation") == nil else { return (key, nil) }
        return (
            key,
            Entry(key: key, value: message.bytes, revision: message.sequence, writtenAt: message.storedAt)
        )
    }

    /// Returns all values that have not expired, in the order of their writes.
    func all() async throws(FleetStoreError) -> [Entry] {
        try await connection.blocking(key: "the bucket \(name)") { [self] () throws(NATSFailure) in
            var missing = try keys()
            guard !missing.isEmpty else { return [] }
            var entries: [String: Entry] = [:]
            let subscription = try subscribe()
            // The server's count of the remaining messages isn't exact while values are replaced.
            while !missing.isEmpty, let message = try subscription.next(within: Self.patience) {
                let (key, entry) = entry(message)
                entries[key] = entry
                missing.remove(key)
                if message.pending == 0 { break }
            }
            // These were replaced or have expired before the server delivered them.
            for key in missing { entries[key] = try Self.value(of: key, in: store) }
            return entries.values.sorted { $0.revision < $1.revision }
        }
    }

    /// Returns the time after which values expire; zero if they don't.
    func timeToLive() async throws(FleetStoreError) -> Duration {
        let (context, stream) = (connection.context, stream)
        return try await connection.blocking(key: "the bucket \(name)") { () throws(NATSFailure) -> Duration in
            var code = jsErrCode(0)
            var info: UnsafeMutablePointer<jsStreamInfo>?
            try NATSFailure.check(js_GetStreamInfo(&info, context.pointer, stream, nil, &code), code: code)
            defer { jsStreamInfo_Destroy(info) }
            return .nanoseconds(info?.pointee.Config?.pointee.MaxAge ?? 0)
        }
    }

    /// Returns the keys, including those of deleted values. This function blocks.
    private func keys() throws(NATSFailure) -> Set<String> {
        try "\(prefix)>".withCString { filter in
            Result { () throws(NATSFailure) in
                var options = jsOptions()
                try NATSFailure.check(jsOptions_Init(&options))
                options.Stream.Info.SubjectsFilter = filter
                var code = jsErrCode(0)
                var info: UnsafeMutablePointer<jsStreamInfo>?
                try NATSFailure.check(
                    js_GetStreamInfo(&info, connection.context.pointer, stream, &options, &code), code: code)
                defer { jsStreamInfo_Destroy(info) }
                guard let list = info?.pointee.State.Subjects?.pointee else { return [] }
                let subjects = UnsafeBufferPointer(start: list.List, count: Int(list.Count))
                return Set(subjects.map { String(String(cString: $0.Subject).dropFirst(prefix.count)) })
            }
        }.get()
    }
}

extension NATSBucket.Entry {
    /// Copies an entry.
    fileprivate init(_ entry: OpaquePointer) {
        key = kvEntry_Key(entry).map { String(cString: $0) } ?? ""
        value = [UInt8](UnsafeRawBufferPointer(start: kvEntry_Value(entry), count: Int(kvEntry_ValueLen(entry))))
        revision = kvEntry_Revision(entry)
        writtenAt = kvEntry_Created(entry)
    }
}

extension NATSBucket {
    /// The current values of the bucket, and each later write.
    ///
    /// The stream reads a value when the caller asks for the next one. The server keeps the newest value of each key,
    /// so that a slow reader gets fewer values, but always the newest ones. If the connection breaks, the stream
    /// continues with the values that are current after the reconnection. It doesn't report that a value expires.
    func changes() -> AsyncStream<Entry> {
        let reader = ChangeReader(self)
        return AsyncStream { await reader.next() }
    }
}

/// The reader of the changes of a bucket. One task reads at a time.
private final class ChangeReader: Sendable {
    private struct State: Sendable {
        /// The consumer; nil if it must be created again.
        var subscription: OrderedSubscription?
        /// The connection's generation of the consumer.
        var generation = 0
        /// The revision of the last value of each key. The server may deliver values of different keys in another order
        /// than they were written.
        var revisions: [String: UInt64] = [:]
    }

    /// The time to wait for a value before checking whether the task is cancelled.
    private static let patience = Duration.milliseconds(200)
    /// The pause after a failure.
    private static let pause = Duration.milliseconds(100)

    private let bucket: NATSBucket
    private let state = Guarded(State())

    init(_ bucket: NATSBucket) { self.bucket = bucket }

    /// Returns the next value; nil if the task is cancelled.
    func next() async -> NATSBucket.Entry? {
        while !Task.isCancelled {
            let generation = bucket.connection.generation
            let known = state.withLock { $0.generation == generation ? $0.subscription : nil }
            do throws(FleetStoreError) {
                if let entry = try await read(known, generation) { return entry }
            } catch {
                state.withLock { $0.subscription = nil }
                try? await Task.sleep(for: Self.pause)
            }
        }
        return nil
    }

    /// Returns the next value; nil for none so far.
    private func read(
        _ known: OrderedSubscription?, _ generation: Int
    ) async throws(FleetStoreError) -> NATSBucket.Entry? {
        let bucket = bucket
        let (subscription, entry) = try await bucket.connection.blocking(key: "the bucket \(bucket.name)") {
            () throws(NATSFailure) -> (OrderedSubscription, NATSBucket.Entry?) in
            let subscription = if let known { known } else { try bucket.subscribe() }
            guard let message = try subscription.next(within: Self.patience) else { return (subscription, nil) }
            return (subscription, bucket.entry(message).entry)
        }
        return state.withLock { state in
            (state.subscription, state.generation) = (subscription, generation)
            // After an interruption, the server sends the values that are still current again.
            guard let entry, entry.revision > state.revisions[entry.key] ?? 0 else { return nil }
            state.revisions[entry.key] = entry.revision
            return entry
        }
    }
}

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
    /// The shortest time to live of a lease whose owner can renew it.
    private static let leastTime = Duration.seconds(1)

    /// The time after which the server discards a lease that isn't renewed.
    package let timeToLive: Duration
    private let bucket: NATSBucket

    /// Opens the store.
    ///
    /// - Throws: `.misconfigured` if the bucket doesn't exist, or if its values don't expire.
    package init(_ connection: NATSConnection) async throws(FleetStoreError) {
        let bucket = try await NATSBucket(connection, name: FleetNames.leases)
        let time = try await bucket.timeToLive()
        guard time >= Self.leastTime else {
            throw .misconfigured(
                reason: "the values of the bucket \(bucket.name) must expire, after a second or more; delete it, and "
                    + "run 'indoorloc-fleet setup'")
        }
        (self.bucket, timeToLive) = (bucket, time)
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
