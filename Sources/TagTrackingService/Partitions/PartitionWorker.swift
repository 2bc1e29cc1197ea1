import IndoorVocabulary
import TagTracking

/// The worker of one partition at a time: it connects `PartitionRun` to a log, a store and a sink.
package struct PartitionWorker<Machine: PartitionMachine>: Sendable {
    /// The maximum number of entries of a batch. A late worker skips positions within a batch.
    private static var batchSize: Int { 2_048 }
    /// The time to wait for entries before the machine follows the clock.
    private static var patience: Duration { .milliseconds(100) }
    /// The pause after a failure of the log or the store.
    private static var pause: Duration { .milliseconds(200) }
    /// The time between two exchanges with a machine.
    private static var exchangeInterval: Duration { .seconds(1) }

    private let log: any ReadingLog
    private let snapshots: any SnapshotStore
    private let sink: any FleetOutputSink
    private let confirmation: (any OutputConfirmation)?
    private let name: String
    private let counters: WorkerCounters
    private let unixTime: @Sendable () -> Instant
    private let report: @Sendable (String) -> Void
    private let exchange: @Sendable (inout Machine) -> Void
    private let make: @Sendable (_ epoch: UInt64, _ snapshot: [UInt8]?) throws -> Machine

    /// Creates a worker.
    ///
    /// - Parameters:
    ///   - confirmation: confirms that the sink's destination has stored the outputs; nil for a sink that stores them
    ///     itself.
    ///   - name: the name of this process, which no other process may have.
    ///   - unixTime: returns the time of the wall clock.
    ///   - report: receives sentences about failures.
    ///   - exchange: changes the machine of each partition once a second, such as its offsets of the receivers.
    ///   - make: creates a machine with an epoch that continues from a snapshot, or one without tags for nil.
    package init(
        log: any ReadingLog, snapshots: any SnapshotStore, sink: any FleetOutputSink,
        confirmation: (any OutputConfirmation)? = nil, name: String,
        counters: WorkerCounters, unixTime: @escaping @Sendable () -> Instant,
        report: @escaping @Sendable (String) -> Void, exchange: @escaping @Sendable (inout Machine) -> Void = { _ in },
        make: @escaping @Sendable (_ epoch: UInt64, _ snapshot: [UInt8]?) throws -> Machine
    ) {
        self.log = log
        self.snapshots = snapshots
        self.sink = sink
        self.confirmation = confirmation
        self.name = name
        self.counters = counters
        self.unixTime = unixTime
        self.report = report
        self.exchange = exchange
        self.make = make
    }

    /// Works on a partition until the gate no longer wants it, or until another owner fences it.
    package func run(partition: Int, gate: LeaseGate) async {
        counters.begin(partition)
        defer { counters.end(partition) }
        while gate.isWanted {
            do throws(FleetStoreError) {
                return try await own(partition, gate)
            } catch {
                report("partition \(partition): \(error)")
                counters.recordFailure()
                // The claim, the reader or the stored state failed. Start again from the state in the store.
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    private func own(_ partition: Int, _ gate: LeaseGate) async throws(FleetStoreError) {
        let stored = try await snapshots.load(partition: partition)
        let now = unixTime()
        // A process may own the same partition several times.
        let owner = "\(name)/\(gate.now.nanoseconds)"
        var run = try PartitionRun(
            partition: partition, continuing: stored, owner: owner,
            leastEpoch: UInt64(max(0, now.nanoseconds / 1_000_000_000)), at: gate.now, unixTime: now, make: make)
        try await store(&run, gate)
        guard run.phase == .owning else { return fence(run) }
        counters.recordClaim(partition, epoch: run.epoch)
        let reader = try await log.reader(ofPartition: partition, after: run.sequence)
        do throws(FleetStoreError) {
            try await follow(&run, reader, gate)
        } catch {
            await reader.close()
            throw error
        }
        await reader.close()
    }

    private func follow(
        _ run: inout PartitionRun<Machine>, _ reader: any ReadingLogReader, _ gate: LeaseGate
    ) async throws(FleetStoreError) {
        let losses = confirmation?.losses ?? 0
        var exchangedAt = gate.now
        while gate.isWanted {
            if exchangedAt.duration(to: gate.now) >= Self.exchangeInterval {
                exchangedAt = gate.now
                run.update(exchange)
            }
            let batch: LogBatch
            do throws(FleetStoreError) {
                batch = try await reader.next(atMost: Self.batchSize, within: Self.patience)
            } catch {
                guard error.isTransient else { throw error }
                run.recordInterruption(unixTime: unixTime())
                counters.recordFailure()
                try? await Task.sleep(for: Self.pause)
                continue
            }
            // The process may have been stopped while it waited: then another owner may have the partition.
            guard gate.isOpen else { break }
            let outputs = run.observe(batch.entries, isLast: batch.pending == 0, unixTime: unixTime())
            guard gate.isOpen else { break }
            if !outputs.isEmpty { await sink.write(outputs) }
            counters.record(run.partition, batch, outputs: outputs.count, lag: run.lag)
            if run.isSnapshotDue(at: gate.now) {
                try await confirmOutputs(since: losses)
                try await store(&run, gate)
            }
            if case .fenced = run.phase { return fence(run) }
            // The gate closed before the outcome of a write was known. A late renewal of the lease may open it again.
            guard run.phase == .owning else {
                throw .unavailable(reason: "no answer to a write; the work continues from the stored state")
            }
        }
        guard gate.isOpen, run.hasUnstoredChanges else { return }
        try await confirmOutputs(since: losses)
        try await store(&run, gate)
    }

    /// Checks that the destination has all outputs. Otherwise, the work starts again from the stored state, and emits
    /// the outputs after it again.
    private func confirmOutputs(since losses: Int) async throws(FleetStoreError) {
        guard let confirmation else { return }
        guard await confirmation.flush(), confirmation.losses == losses else {
            throw .unavailable(reason: "outputs may be lost; the work continues from the stored state")
        }
    }

    /// Stores the state, and determines the outcome if the store doesn't answer.
    private func store(_ run: inout PartitionRun<Machine>, _ gate: LeaseGate) async throws(FleetStoreError) {
        while gate.isOpen {
            let write = run.write()
            do throws(FleetStoreError) {
                let revision = try await snapshots.store(
                    write.bytes, partition: run.partition, replacing: write.revision)
                run.recordStored(revision: revision, at: gate.now)
                counters.recordSnapshot(bytes: write.bytes.count)
                return
            } catch {
                counters.recordFailure()
                if case .tooLarge = error, run.phase == .owning {
                    // The worker still uses the readings. After a restart, it reads them again from the stored state
                    // on.
                    report("partition \(run.partition): \(error)")
                    return run.postponeSnapshot(at: gate.now)
                }
                guard error.isTransient else { throw error }
                run.recordFailure()
            }
            while run.phase == .doubtful, gate.isOpen {
                do throws(FleetStoreError) {
                    try run.reconcile(try await snapshots.load(partition: run.partition), at: gate.now)
                } catch {
                    guard error.isTransient else { throw error }
                    try? await Task.sleep(for: Self.pause)
                }
            }
            if run.phase == .owning { return }
            if case .fenced = run.phase { return }
        }
    }

    private func fence(_ run: PartitionRun<Machine>) {
        guard case .fenced(let epoch) = run.phase else { return }
        counters.recordFence()
        report("partition \(run.partition): another worker owns it since epoch \(epoch); this one stops")
    }
}
