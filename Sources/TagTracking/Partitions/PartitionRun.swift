import IndoorVocabulary

/// The state machine of one owner of a partition. The owner continues from the stored state, observes the log, and
/// stores its own state by compare-and-set.
///
/// The first write is a claim: it stores the same snapshot with a greater epoch. From then on, no write of an earlier
/// owner can succeed. A failed compare-and-set ends the run, unless the stored state is the run's own, from a write
/// whose answer was lost.
///
/// Outputs are emitted at least once: a later owner emits the outputs after the last stored state again, with its
/// greater epoch.
package struct PartitionRun<Machine: PartitionMachine>: Sendable {
    /// The settings of a run.
    package struct Settings: Hashable, Sendable {
        /// The time between two stored states, by the clock of the caller.
        package var snapshotInterval = Duration.seconds(1)
        /// The time that the machine stays behind the clock while the log has no further entries, in addition to the time
        /// that the latest reading took through ingest and log.
        package var idleDelay = Duration.milliseconds(500)
        /// The time after a start or an interruption of the log during which the machine doesn't follow the clock.
        /// During this time, an ingest appends the readings that it kept.
        package var catchUpTime = Duration.seconds(5)

        /// Creates the settings with their defaults.
        package init() {}
    }

    /// The phase of a run.
    package enum Phase: Hashable, Sendable {
        /// The claim isn't stored yet.
        case claiming
        /// The run owns the partition's state.
        case owning
        /// The outcome of a write is unknown, until `reconcile(_:at:)` compares the stored state.
        case doubtful
        /// Another owner has a greater epoch. The run emits and writes nothing more.
        case fenced(by: UInt64)
    }

    /// A write for the store.
    package struct Write: Hashable, Sendable {
        /// The bytes of a `PartitionState`.
        package var bytes: [UInt8]
        /// The revision that the write replaces; nil for none.
        package var revision: UInt64?
    }

    /// The index of the partition.
    package let partition: Int
    /// The name of this owner, which no other run may have.
    package let owner: String
    /// The phase.
    package private(set) var phase = Phase.claiming
    /// The number of this owner, greater than that of each earlier one.
    package private(set) var epoch: UInt64
    /// The last entry that the machine has observed; 0 for none.
    package private(set) var sequence: UInt64
    /// The readings that the partition's owners have observed, each counted once.
    package private(set) var readings: UInt64
    /// The time to which the machine has advanced.
    package private(set) var machineTime: Instant
    /// The entries that the log has delivered again; the run has skipped them.
    package private(set) var repeatedEntries = 0
    /// The machine of the partition's tags.
    package private(set) var machine: Machine

    private let settings: Settings
    private var revision: UInt64?
    /// The latest instant of a reading: the time of the log.
    private var logTime = Instant(nanoseconds: .min)
    /// The time from the latest reading to its arrival here.
    private var arrivalDelay = Duration.zero
    /// The wall-clock time from which the machine may follow the clock.
    private var clockIsValidFrom: Instant
    private var storedAt: Instant
    /// Whether the state differs from the stored one.
    private var isChanged = false

    /// Creates a run that continues from the stored state.
    ///
    /// - Parameters:
    ///   - stored: the state in the store; nil before the first owner.
    ///   - owner: the name of this owner, which no other run may have.
    ///   - leastEpoch: a lower bound of the epoch, such as the seconds since 1970, so that epochs increase even if the
    ///     store was deleted.
    ///   - now: the time of the caller's monotonic clock.
    ///   - unixTime: the time of the wall clock.
    ///   - make: creates a machine with the epoch that continues from the snapshot; nil for one without tags.
    /// - Throws: `.damaged` if the stored state or its snapshot can't be read.
    package init(
        partition: Int, continuing stored: StoredSnapshot?, owner: String, leastEpoch: UInt64,
        settings: Settings = Settings(), at now: Instant, unixTime: Instant,
        make: (_ epoch: UInt64, _ snapshot: [UInt8]?) throws -> Machine
    ) throws(FleetStoreError) {
        let key = "the state of partition \(partition)"
        var state: PartitionState?
        if let stored { state = try PartitionState(stored.bytes, key: key) }
        self.partition = partition
        self.owner = owner
        self.settings = settings
        epoch = max((state?.epoch ?? 0) + 1, leastEpoch)
        sequence = state?.sequence ?? 0
        readings = state?.readings ?? 0
        machineTime = state?.instant ?? Instant(nanoseconds: .min)
        revision = stored?.revision
        storedAt = now
        clockIsValidFrom = unixTime.advanced(by: settings.catchUpTime)
        do { machine = try make(epoch, state?.snapshot) } catch {
            throw .damaged(key: key, reason: "\(error); delete the value, so that its tags begin anew")
        }
    }

    // MARK: The log

    /// Observes the entries of a batch, advances the machine by the log's time, and returns its outputs.
    ///
    /// The machine advances at most once for a batch. A late worker has large batches, and therefore skips positions but
    /// no readings.
    ///
    /// - Parameters:
    ///   - isLast: whether the log has no further entries at the moment. The machine then also follows the clock.
    ///   - unixTime: the time of the wall clock.
    /// - Precondition: the run owns the partition.
    package mutating func observe(_ entries: [LogEntry], isLast: Bool, unixTime: Instant) -> [FleetOutput] {
        precondition(phase == .owning, "partition \(partition) observes readings in phase \(phase)")
        for entry in entries {
            guard entry.sequence > sequence else {
                repeatedEntries += 1
                continue
            }
            machine.observe(entry.reading)
            sequence = entry.sequence
            readings += 1
            // A gateway's clock may run ahead. No reading is later than its entry.
            logTime = max(logTime, min(entry.reading.instant, entry.storedAt))
            isChanged = true
        }
        if !entries.isEmpty {
            arrivalDelay = max(.zero, logTime.duration(to: unixTime))
            clockIsValidFrom = unixTime
        }
        var target = logTime
        if isLast, unixTime >= clockIsValidFrom {
            target = max(target, unixTime.advanced(by: .zero - arrivalDelay - settings.idleDelay))
        }
        guard target > machineTime else { return [] }
        machineTime = target
        guard let wakeAt = machine.wakeAt, wakeAt <= target else { return [] }
        let outputs = machine.advance(to: target)
        isChanged = isChanged || !outputs.isEmpty
        return outputs
    }

    /// Records that the log was not readable for a while.
    package mutating func recordInterruption(unixTime: Instant) {
        clockIsValidFrom = unixTime.advanced(by: settings.catchUpTime)
    }

    /// The time from the latest observed reading to its arrival at this worker; zero before the first entry.
    package var lag: Duration { arrivalDelay }

    /// Changes values of the machine that don't come from readings, such as the offsets of the receivers.
    package mutating func update(_ change: (inout Machine) -> Void) { change(&machine) }

    // MARK: The store

    /// The write that claims the partition, or that stores the state.
    package func write() -> Write {
        let state = PartitionState(
            epoch: epoch, owner: owner, sequence: sequence, readings: readings, instant: machineTime,
            snapshot: machine.snapshot())
        return Write(bytes: state.bytes, revision: revision)
    }

    /// Returns whether the state should be stored now.
    package func isSnapshotDue(at now: Instant) -> Bool {
        phase == .owning && isChanged && storedAt.duration(to: now) >= settings.snapshotInterval
    }

    /// Makes the next state due after a minute, because the store doesn't accept one of this size.
    package mutating func postponeSnapshot(at now: Instant) { storedAt = now.advanced(by: .seconds(60)) }

    /// Whether the stored state lacks readings or outputs.
    package var hasUnstoredChanges: Bool { phase == .owning && isChanged }

    /// Records that the store has accepted the latest write.
    package mutating func recordStored(revision: UInt64, at now: Instant) {
        guard phase == .claiming || phase == .owning else { return }
        phase = .owning
        self.revision = revision
        storedAt = now
        isChanged = false
    }

    /// Records that the store has refused the latest write, or hasn't answered. The run emits nothing until
    /// `reconcile(_:at:)`.
    package mutating func recordFailure() {
        guard phase == .claiming || phase == .owning else { return }
        phase = .doubtful
    }

    /// Compares the stored state with the run after a failure.
    ///
    /// The state is the run's own if it has the run's epoch and owner. A claim that isn't stored is made again with an
    /// epoch above the stored one, since nothing was emitted before.
    package mutating func reconcile(_ stored: StoredSnapshot?, at now: Instant) throws(FleetStoreError) {
        guard phase == .doubtful else { return }
        guard let stored else {
            // The store lost the state: the claim is made again.
            phase = .claiming
            revision = nil
            return
        }
        let state = try PartitionState(stored.bytes, key: "the state of partition \(partition)")
        if state.epoch == epoch, state.owner == owner {
            phase = .owning
            revision = stored.revision
            // The stored state may be an earlier one of this run: it is stored again.
            isChanged = true
        } else if state.epoch < epoch, stored.revision == revision {
            // The claim had no effect, or the store has lost the latest states. Both are written again.
            phase = .claiming
        } else {
            phase = .fenced(by: state.epoch)
        }
    }
}
