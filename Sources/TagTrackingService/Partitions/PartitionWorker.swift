import IndoorVocabulary
import SessionMetrics
import TagTracking
import VenueModel

/// The worker of one partition at a time: it connects `PartitionRun` to a log, a store and a sink.
package struct PartitionWorker<Machine: PartitionMachine>: Sendable {
    /// The maximum number of entries of a batch. A late worker skips positions within a batch.
    private static var batchSize: Int { 2_048 }
    /// The time to wait for entries before the machine follows the clock.
    private static var patience: Duration { .milliseconds(100) }
    /// The pause after a failure of the log or the store.
    private static var pause: Duration { .milliseconds(200) }
    /// The number of such pauses after a failure that lasts until a person acts.
    private static var lastingPauses: Int { 5 }
    /// The time between two reports of the same failure.
    private static var reportInterval: Duration { .seconds(60) }
    /// The time between two exchanges with a machine.
    private static var exchangeInterval: Duration { .seconds(1) }

    private let log: any ReadingLog
    private let snapshots: any SnapshotStore
    private let sink: any FleetOutputSink
    private let confirmation: (any OutputConfirmation)?
    private let partitioning: Partitioning
    private let name: String
    private let counters: WorkerCounters
    private let unixTime: @Sendable () -> Instant
    private let report: @Sendable (String) -> Void
    private let exchange: @Sendable (inout Machine, Instant) -> Void
    private let newRegister: @Sendable (inout Int?) -> TagRegister?
    private let make: @Sendable (_ epoch: UInt64, _ snapshot: [UInt8]?) throws -> Machine

    /// Creates a worker.
    ///
    /// - Parameters:
    ///   - confirmation: confirms that the sink's destination has stored the outputs; nil for a sink that stores them
    ///     itself.
    ///   - partitioning: the partitions of the tags.
    ///   - name: the name of this process, which no other process may have.
    ///   - unixTime: returns the time of the wall clock.
    ///   - report: receives sentences about failures.
    ///   - exchange: changes the machine of each partition once a second, such as its offsets of the receivers, at its
    ///     time.
    ///   - newRegister: returns the register unless its number is the given one, which becomes that of the returned
    ///     register. A partition begins with nil.
    ///   - make: creates a machine with an epoch that continues from a snapshot, or one without tags for nil.
    package init(
        log: any ReadingLog, snapshots: any SnapshotStore, sink: any FleetOutputSink,
        confirmation: (any OutputConfirmation)? = nil, partitioning: Partitioning, name: String,
        counters: WorkerCounters, unixTime: @escaping @Sendable () -> Instant,
        report: @escaping @Sendable (String) -> Void,
        exchange: @escaping @Sendable (inout Machine, Instant) -> Void = { _, _ in },
        newRegister: @escaping @Sendable (_ number: inout Int?) -> TagRegister? = { _ in nil },
        make: @escaping @Sendable (_ epoch: UInt64, _ snapshot: [UInt8]?) throws -> Machine
    ) {
        self.log = log
        self.snapshots = snapshots
        self.sink = sink
        self.confirmation = confirmation
        self.partitioning = partitioning
        self.name = name
        self.counters = counters
        self.unixTime = unixTime
        self.report = report
        self.exchange = exchange
        self.newRegister = newRegister
        self.make = make
    }

    /// Works on a partition until the gate no longer wants it, or until another owner fences it.
    package func run(partition: Int, gate: LeaseGate) async {
        counters.begin(partition)
        await work(on: partition, gate)
        counters.end(partition)
        await sink.forget { [partitioning] in partitioning.partition(of: $0) == partition }
    }

    private func work(on partition: Int, _ gate: LeaseGate) async {
        var reported: (error: FleetStoreError, at: Instant)?
        while gate.isWanted {
            do throws(FleetStoreError) {
                return try await own(partition, gate)
            } catch {
                let now = gate.now
                let isKnown =
                    reported.map { $0.error == error && $0.at.duration(to: now) < Self.reportInterval } ?? false
                if !isKnown {
                    report("partition \(partition): \(error)")
                    reported = (error, now)
                }
                counters.recordFailure()
                // The claim, the reader or the stored state failed. Start again from the state in the store.
                for _ in 0..<(error.isTransient ? 1 : Self.lastingPauses) where gate.isWanted {
                    try? await Task.sleep(for: Self.pause)
                }
            }
        }
    }

    private func own(_ partition: Int, _ gate: LeaseGate) async throws(FleetStoreError) {
        let stored = try await snapshots.load(partition: partition)
        let (now, start) = (unixTime(), gate.now)
        // A process may own the same partition several times.
        let owner = "\(name)/\(start.nanoseconds)"
        var run = try PartitionRun(
            partition: partition, continuing: stored, owner: owner,
            leastEpoch: UInt64(max(0, now.nanoseconds / 1_000_000_000)), at: start, unixTime: now, make: make)
        try await store(&run, gate)
        guard run.phase == .owning else { return fence(run) }
        counters.recordClaim(partition, epoch: run.epoch)
        let reader = try await log.reader(ofPartition: partition, after: run.sequence)
        do throws(FleetStoreError) {
            // The wall clock can be set meanwhile.
            try await follow(&run, reader, gate) { now.advanced(by: start.duration(to: gate.now)) }
        } catch {
            await reader.close()
            throw error
        }
        await reader.close()
    }

    /// Observes the log until the gate no longer wants it.
    ///
    /// - Parameter time: returns the time since 1970 by a clock that can't be set.
    private func follow(
        _ run: inout PartitionRun<Machine>, _ reader: any ReadingLogReader, _ gate: LeaseGate,
        _ time: @Sendable () -> Instant
    ) async throws(FleetStoreError) {
        let losses = confirmation?.losses ?? 0
        var exchangedAt = gate.now
        var register: (number: Int?, content: TagRegister?) = (nil, nil)
        while gate.isWanted {
            if exchangedAt.duration(to: gate.now) >= Self.exchangeInterval {
                exchangedAt = gate.now
                let machineTime = run.machineTime
                run.update { exchange(&$0, machineTime) }
            }
            let batch: LogBatch
            do throws(FleetStoreError) {
                batch = try await reader.next(atMost: Self.batchSize, within: Self.patience)
            } catch {
                guard error.isTransient else { throw error }
                run.recordInterruption(unixTime: time())
                counters.recordFailure()
                try? await Task.sleep(for: Self.pause)
                continue
            }
            // The process may have been stopped while it waited: then another owner may have the partition.
            guard gate.isOpen else { break }
            // After the batch, so that a reading that was appended after a register is observed with it.
            if let latest = newRegister(&register.number) {
                await use(latest, after: register.content, &run)
                register.content = latest
            }
            let outputs = run.observe(batch.entries, isLast: batch.pending == 0, unixTime: time())
            guard gate.isOpen else { break }
            if !outputs.isEmpty { await sink.write(outputs) }
            counters.record(run.partition, batch, outputs: outputs.count, lag: run.lag(at: unixTime()))
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

    /// Uses another register, and removes the tags of the partition that aren't located any more from the sink.
    ///
    /// - Parameter earlier: the register so far, whose tags may have outputs although the machine has forgotten them; nil
    ///   for the first one of a run.
    private func use(_ register: TagRegister, after earlier: TagRegister?, _ run: inout PartitionRun<Machine>) async {
        let partition = run.partition
        let tags = earlier?.entries.keys.filter { partitioning.partition(of: $0) == partition } ?? []
        let removed = run.use(register: register, for: tags)
        if !removed.isEmpty { await sink.use(register: register, removing: removed) }
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

/// A confirmation that the destination of outputs has stored them.
///
/// A worker asks for it before it stores a state, because no later owner emits the outputs before that state again.
package protocol OutputConfirmation: Sendable {
    /// The number of failures so far in which outputs may have been lost, such as broken connections.
    var losses: Int { get }

    /// Waits until the destination has stored all outputs so far; returns whether it has.
    func flush() async -> Bool
}

/// The counts of a process of workers, for its metrics.
package final class WorkerCounters: Sendable {
    private struct Counts: Sendable {
        var readings = 0
        var outputs = 0
        var damaged = 0
        var snapshots = 0
        var failures = 0
        var fences = 0
        var largestSnapshot = 0
        /// The lag of each owned partition in seconds.
        var lags: [Int: Double] = [:]
        var epochs: [Int: UInt64] = [:]
    }

    private let counts = Guarded(Counts())

    package init() {}

    /// The number of readings that the workers of this process have observed.
    package var readings: Int { counts.withLock(\.readings) }

    /// The partitions of this process with their epochs.
    package var epochs: [Int: UInt64] { counts.withLock(\.epochs) }

    /// The longest time from a reading to its worker, over the partitions of this process.
    package var lag: Duration { .seconds(counts.withLock { $0.lags.values.max() } ?? 0) }

    func begin(_ partition: Int) { counts.withLock { $0.lags[partition] = 0 } }

    func end(_ partition: Int) {
        counts.withLock { counts in
            counts.lags[partition] = nil
            counts.epochs[partition] = nil
        }
    }

    func recordClaim(_ partition: Int, epoch: UInt64) { counts.withLock { $0.epochs[partition] = epoch } }

    func record(_ partition: Int, _ batch: LogBatch, outputs: Int, lag: Duration) {
        counts.withLock { counts in
            counts.readings += batch.entries.count
            counts.damaged += batch.damaged
            counts.outputs += outputs
            if !batch.entries.isEmpty { counts.lags[partition] = lag.seconds }
        }
    }

    func recordSnapshot(bytes: Int) {
        counts.withLock { counts in
            counts.snapshots += 1
            counts.largestSnapshot = max(counts.largestSnapshot, bytes)
        }
    }

    func recordFailure() { counts.withLock { $0.failures += 1 } }

    func recordFence() { counts.withLock { $0.fences += 1 } }

    /// The metrics of the process.
    package var families: [MetricFamily] {
        let counts = counts.withLock(\.self)
        func family(
            _ name: String, _ kind: MetricFamily.Kind, unit: MetricFamily.Unit? = nil, _ value: Double?, _ help: String
        ) -> MetricFamily {
            MetricFamily(
                "indoorloc_worker_" + name, kind, unit: unit, help: help,
                samples: value.map { [.init(.number($0))] } ?? [])
        }
        return [
            family("readings", .counter, Double(counts.readings), "Readings that the tags' sessions have observed."),
            family("outputs", .counter, Double(counts.outputs), "Emitted outputs."),
            family("damaged_entries", .counter, Double(counts.damaged), "Entries of the log that can't be read."),
            family("snapshots", .counter, Double(counts.snapshots), "Stored states of partitions."),
            family("failures", .counter, Double(counts.failures), "Failed requests to the log or its stores."),
            family("fences", .counter, Double(counts.fences), "Ends of a partition's work by another owner."),
            family("partitions", .gauge, Double(counts.lags.count), "Partitions that this process works on."),
            family(
                "snapshot_bytes", .gauge, unit: .bytes, Double(counts.largestSnapshot),
                "Largest stored state of a partition."),
            family(
                "lag_seconds", .gauge, unit: .seconds, counts.lags.values.max(),
                "Longest time from a reading to its worker, over the partitions."),
        ]
    }
}

/// The receivers of a fleet as one of several workers observes them.
///
/// The worker's own monitor has the evidence of the worker's partitions. Workers exchange the states of their monitors;
/// each merges those of the others with its own, so that all have nearly the same offsets and health.
package final class WorkerReceivers: Sendable {
    private struct State: Sendable {
        var own: ReceiverMonitor
        var others: [ReceiverMonitor] = []
        /// The worker's own monitor merged with those of the others. Its offsets and health are used.
        var merged: ReceiverMonitor
        var now = Instant(nanoseconds: .min)
        /// The evidence about gateways that the venue doesn't have, which the monitors don't use.
        var strangers = ReceiverEvidence()
        var nearest = NearestReceivers()
    }

    private let venue: Venue
    private let state: Guarded<State>

    /// Creates the receivers of a venue, without evidence.
    package init(venue: Venue) {
        self.venue = venue
        let monitor = ReceiverMonitor(venue: venue)
        state = Guarded(State(own: monitor, merged: monitor))
    }

    /// The offset of each receiver in dB.
    package var offsets: [Double] { state.withLock(\.merged.offsets) }

    /// The health of a receiver; nil for a name that the venue doesn't have.
    package func health(of receiver: String) -> ReceiverEvent.Health? {
        state.withLock { $0.merged.health(of: receiver) }
    }

    /// The metrics of the receivers.
    package var families: [MetricFamily] { state.withLock(\.merged.families) }

    /// Takes the evidence of a partition's machine, sets its offsets, and tells it at its time whether any ingest receives
    /// messages of gateways.
    package func exchange(with machine: inout FleetMachine, isListening: Bool, at now: Instant) {
        observe(machine.takeReceiverEvidence())
        let offsets = offsets
        if machine.receiverOffsets != offsets { machine.receiverOffsets = offsets }
        machine.listen(isListening, at: now)
    }

    /// Adds evidence of this worker.
    package func observe(_ evidence: ReceiverEvidence) {
        state.withLock { state in
            state.own.observe(evidence)
            for (name, latest) in evidence.unknownGateways { state.strangers.addMessage(ofUnknown: name, at: latest) }
        }
    }

    /// The activity of the receivers, and of the gateways whose readings this worker got and whose names the venue doesn't
    /// have.
    package var activity: GatewayActivity {
        state.withLock { state in
            let senders = state.strangers.unknownGateways.map { (name: $0.key, latest: $0.value) }
            return state.nearest.activity(of: senders, state.merged)
        }
    }

    /// The state of the worker's own monitor, for the other workers.
    package var snapshot: [UInt8] { state.withLock(\.own).snapshot() }

    /// Replaces the states of the other workers. Those that can't be read, such as one of another version, are left out.
    package func setOthers(_ snapshots: [[UInt8]]) {
        let others = snapshots.compactMap { try? ReceiverMonitor(venue: venue, restoring: $0) }
        state.withLock { $0.others = others }
    }

    /// Merges the monitors, and returns the changes of health until an instant on the timeline of the readings.
    package func advance(to now: Instant) -> [ReceiverEvent] {
        state.withLock { state in
            state.now = max(state.now, now)
            // This advance makes the worker's own monitor discard old evidence. The health is that of the merged
            // monitor.
            _ = state.own.advance(to: state.now)
            var merged = state.others.reduce(state.own) { $0.merged(with: $1) }
            merged.continueHealth(of: state.merged)
            let events = merged.advance(to: state.now)
            state.merged = merged
            state.own.continueHealth(of: merged)
            return events
        }
    }
}
