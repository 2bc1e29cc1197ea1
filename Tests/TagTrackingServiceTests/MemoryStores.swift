import IndoorLocalizationTesting
import IndoorVocabulary
import TagTracking
import TagTrackingService

/// The log, the leases and the states of a fleet in memory, with faults by a seeded generator.
actor MemoryStores: ReadingLog, SnapshotStore, LeaseStore {
    /// The probabilities of faults of each call.
    struct Faults: Sendable {
        /// The call takes no effect, and has no answer.
        var lostRequest = 0.0
        /// The call takes effect, but has no answer.
        var lostAnswer = 0.0
    }

    private struct Fault: Sendable {
        var takesEffect: Bool
    }

    private let partitioning: Partitioning
    private let timeToLive: Duration
    private let clock = ContinuousClock()
    private var generator: SeededGenerator
    private var faults: Faults
    private var entries: [LogEntry] = []
    private var states: [Int: StoredSnapshot] = [:]
    private var leases: [Int: (lease: LeaseList.Lease, writtenAt: ContinuousClock.Instant)] = [:]
    private var members: [String: ContinuousClock.Instant] = [:]
    private var revision: UInt64 = 0
    /// The number of readings in the states, for waiting.
    let stored = WatchedState<[Int: UInt64]>([:])

    init(partitioning: Partitioning, timeToLive: Duration, faults: Faults = Faults(), seed: UInt64) {
        self.partitioning = partitioning
        self.timeToLive = timeToLive
        self.faults = faults
        generator = SeededGenerator(seed: seed)
    }

    private func fault() -> Fault? {
        let luck = generator.uniform()
        if luck < faults.lostRequest { return Fault(takesEffect: false) }
        return luck < faults.lostRequest + faults.lostAnswer ? Fault(takesEffect: true) : nil
    }

    /// Performs a call with its faults.
    private func call<Value>(
        _ body: () throws(FleetStoreError) -> Value
    ) throws(FleetStoreError) -> Value {
        guard let fault = fault() else { return try body() }
        if fault.takesEffect { _ = try? body() }
        throw .unavailable(reason: "a fault of the test")
    }

    /// The states of all partitions.
    var allStates: [Int: StoredSnapshot] { states }

    // MARK: Log

    func append(_ readings: [TagReading]) throws(FleetStoreError) {
        for reading in readings {
            entries.append(
                LogEntry(sequence: UInt64(entries.count + 1), storedAt: reading.instant, reading: reading))
        }
    }

    func reader(ofPartition partition: Int, after sequence: UInt64) throws(FleetStoreError) -> any ReadingLogReader {
        try call { () throws(FleetStoreError) in MemoryReader(self, partition, after: sequence) }
    }

    fileprivate func entries(
        of partition: Int, after sequence: UInt64, atMost count: Int
    ) throws(FleetStoreError) -> LogBatch {
        try call { () throws(FleetStoreError) in
            let rest = entries.filter {
                $0.sequence > sequence && partitioning.partition(of: $0.reading.tag) == partition
            }
            return LogBatch(entries: Array(rest.prefix(count)), pending: UInt64(max(0, rest.count - count)))
        }
    }

    // MARK: States

    func load(partition: Int) throws(FleetStoreError) -> StoredSnapshot? {
        try call { () throws(FleetStoreError) in states[partition] }
    }

    func store(_ bytes: [UInt8], partition: Int, replacing replaced: UInt64?) throws(FleetStoreError) -> UInt64 {
        try call { () throws(FleetStoreError) in
            guard states[partition]?.revision == replaced else { throw .conflict(key: "partition \(partition)") }
            revision += 1
            states[partition] = StoredSnapshot(bytes: bytes, revision: revision)
            let readings = try PartitionState(bytes, key: "state").readings
            stored.update { $0[partition] = readings }
            return revision
        }
    }

    // MARK: Leases

    func list(_ group: LeaseGroup) throws(FleetStoreError) -> LeaseList {
        try call { () throws(FleetStoreError) in
            let oldest = clock.now - timeToLive
            return LeaseList(
                leases: leases.filter { $0.value.writtenAt > oldest }.mapValues(\.lease),
                members: Set(members.filter { $0.value > oldest }.keys))
        }
    }

    func write(
        lease index: Int, of group: LeaseGroup, owner: String, replacing replaced: UInt64?
    ) throws(FleetStoreError) -> UInt64 {
        try call { () throws(FleetStoreError) in
            let current = leases[index].flatMap { $0.writtenAt > clock.now - timeToLive ? $0.lease : nil }
            guard current?.revision == replaced else { throw .conflict(key: "lease \(index)") }
            revision += 1
            leases[index] = (LeaseList.Lease(owner: owner, revision: revision), clock.now)
            return revision
        }
    }

    func announce(_ member: String, of group: LeaseGroup, isPresent: Bool) throws(FleetStoreError) {
        try call { () throws(FleetStoreError) in members[member] = isPresent ? clock.now : nil }
    }
}

/// A reader of the log in memory.
private actor MemoryReader: ReadingLogReader {
    private let stores: MemoryStores
    private let partition: Int
    private var sequence: UInt64

    init(_ stores: MemoryStores, _ partition: Int, after sequence: UInt64) {
        self.stores = stores
        self.partition = partition
        self.sequence = sequence
    }

    func next(atMost count: Int, within patience: Duration) async throws(FleetStoreError) -> LogBatch {
        let batch = try await stores.entries(of: partition, after: sequence, atMost: count)
        sequence = batch.entries.last?.sequence ?? sequence
        if batch.entries.isEmpty { try? await Task.sleep(for: .milliseconds(5)) }
        return batch
    }

    func close() {}
}
