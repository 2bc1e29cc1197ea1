import IndoorVocabulary
import TextFormats

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
    /// The time from the latest reading to its arrival here, negative if the log's clock is ahead.
    private var arrivalDelay = Duration.zero
    /// Whether all entries of the log were observed at the latest call, so that the next one arrives as soon as it is stored.
    private var isCaughtUp = false
    /// The shortest time from the storing of such an entry to its arrival here; nil before one.
    private var leastDelay: Duration?
    /// The time from which the machine may follow the clock.
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
    ///   - unixTime: the time since 1970 by a clock that isn't set during the run.
    /// - Precondition: the run owns the partition.
    package mutating func observe(_ entries: [LogEntry], isLast: Bool, unixTime: Instant) -> [FleetOutput] {
        precondition(phase == .owning, "partition \(partition) observes readings in phase \(phase)")
        for entry in entries {
            guard entry.sequence > sequence else {
                repeatedEntries += 1
                continue
            }
            followClock(of: entry, unixTime: unixTime)
            // The process that appended the reading may have had another register.
            if machine.passes(entry.reading.tag) { machine.observe(entry.reading) }
            sequence = entry.sequence
            readings += 1
            // A gateway's clock may run ahead. No reading is later than its entry.
            logTime = max(logTime, min(entry.reading.instant, entry.storedAt))
            isChanged = true
        }
        if !entries.isEmpty {
            arrivalDelay = logTime.duration(to: unixTime)
            clockIsValidFrom = unixTime
        }
        // A log that has delivered nothing yet can have entries.
        isCaughtUp = isLast && (isCaughtUp || !entries.isEmpty)
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

    /// Follows the log's clock if it was set: no time has passed then, and everything is as old as before.
    ///
    /// No entry arrives faster than those that arrive at once, so that an earlier arrival shows a clock that was set forward.
    /// The machine is never later than the log, unless that clock was set back, or the worker's was ahead.
    private mutating func followClock(of entry: LogEntry, unixTime: Instant) {
        let delay = entry.storedAt.duration(to: unixTime)
        let lead = entry.storedAt.duration(to: machineTime)
        var step = Duration.zero
        if let leastDelay, leastDelay - delay > Self.clockTolerance {
            step = leastDelay - delay
        } else if lead > Self.clockTolerance {
            step = .zero - lead
        }
        if step != .zero {
            machine.move(by: step)
            machineTime.move(by: step)
            logTime.move(by: step)
            leastDelay = nil
        }
        if isCaughtUp { leastDelay = min(leastDelay ?? delay, delay) }
    }

    /// The difference from which a clock was set, and an entry isn't only late: a consumer that the server has lost is
    /// silent for some seconds.
    private static var clockTolerance: Duration { .seconds(10) }

    /// Records that the log was not readable for a while.
    package mutating func recordInterruption(unixTime: Instant) {
        clockIsValidFrom = unixTime.advanced(by: settings.catchUpTime)
        isCaughtUp = false
    }

    /// Returns the time from the latest observed reading to its arrival at this worker; zero before the first entry.
    ///
    /// - Parameter unixTime: the time of the wall clock at the arrival.
    package func lag(at unixTime: Instant) -> Duration {
        logTime.nanoseconds == .min ? .zero : max(.zero, logTime.duration(to: unixTime))
    }

    /// Changes values of the machine that don't come from readings, such as the offsets of the receivers.
    package mutating func update(_ change: (inout Machine) -> Void) { change(&machine) }

    /// Uses another register; returns the tags that aren't located any more.
    ///
    /// - Parameter tags: tags of the partition that were located earlier.
    package mutating func use(register: TagRegister, for tags: [TagKey]) -> [TagKey] {
        let removed = machine.use(register: register, for: tags)
        isChanged = isChanged || !removed.isEmpty
        return removed
    }

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

/// A state machine that a partition's worker runs. It converts readings into outputs, and has a state from which
/// another process can continue.
package protocol PartitionMachine: Sendable {
    /// The time at which ``advance(to:)`` has work; nil without any.
    var wakeAt: Instant? { get }

    /// Adds a reading.
    mutating func observe(_ reading: TagReading)

    /// Advances all tags to an instant, and returns the outputs in the order of their instants.
    mutating func advance(to now: Instant) -> [FleetOutput]

    /// Moves all times, after a clock was set: everything is as old as before.
    mutating func move(by step: Duration)

    /// Returns whether readings of a tag can pass.
    func passes(_ tag: TagKey) -> Bool

    /// Replaces the known tags, and removes the tags that don't pass any more, without outputs; returns these.
    ///
    /// - Parameter tags: tags that were located earlier, in addition to those with a state.
    mutating func use(register: TagRegister, for tags: [TagKey]) -> [TagKey]

    /// Returns the state as bytes, from which another process creates a machine that continues.
    func snapshot() -> [UInt8]
}

extension PartitionMachine {
    // A machine without a register locates all tags.
    package func passes(_ tag: TagKey) -> Bool { true }

    package mutating func use(register: TagRegister, for tags: [TagKey]) -> [TagKey] { [] }
}

extension FleetMachine: PartitionMachine {}

/// The stored state of a partition: the machine's snapshot together with the place in the log up to which it was made.
///
/// Both are one value, so that a store replaces both at once. A worker that continues from the state therefore observes
/// each reading of the log exactly once.
package struct PartitionState: Hashable, Sendable {
    /// The number of the owner, which increases with each owner.
    package var epoch: UInt64
    /// The name of the owner.
    package var owner: String
    /// The last entry of the log in the snapshot; 0 for none.
    package var sequence: UInt64
    /// The number of readings in the snapshot since the first owner.
    package var readings: UInt64
    /// The time to which the machine has advanced, counted from the Unix epoch.
    package var instant: Instant
    /// The snapshot of the machine.
    package var snapshot: [UInt8]

    /// Creates a state.
    package init(
        epoch: UInt64, owner: String, sequence: UInt64, readings: UInt64, instant: Instant, snapshot: [UInt8]
    ) {
        self.epoch = epoch
        self.owner = owner
        self.sequence = sequence
        self.readings = readings
        self.instant = instant
        self.snapshot = snapshot
    }

    /// "ILP" and the version of the bytes.
    private static let mark: UInt32 = 0x0150_4C49

    /// The state as bytes for a store.
    package var bytes: [UInt8] {
        var writer = BinaryWriter(reservingCapacity: snapshot.count + owner.utf8.count + 40)
        writer.write(Self.mark)
        writer.write(epoch)
        writer.write(sequence)
        writer.write(readings)
        writer.write(instant.nanoseconds)
        writer.write(owner)
        writer.write(snapshot)
        return writer.bytes
    }

    /// Reads the bytes of a store.
    ///
    /// - Parameter key: the name of the value in errors.
    /// - Throws: `.damaged` if the bytes aren't those of a state.
    package init(_ bytes: [UInt8], key: String) throws(FleetStoreError) {
        var reader = BinaryReader(bytes)
        do throws(BinaryReader.Failure) {
            guard try reader.number(UInt32.self) == Self.mark else {
                throw BinaryReader.Failure(offset: 0)
            }
            epoch = try reader.number()
            sequence = try reader.number()
            // The next epoch and the next sequence must fit in the type.
            guard epoch < .max, sequence < .max else { throw BinaryReader.Failure(offset: reader.offset) }
            readings = try reader.number()
            instant = Instant(nanoseconds: try reader.number())
            owner = try reader.text()
            snapshot = Array(bytes[reader.offset...])
        } catch {
            throw .damaged(
                key: key,
                reason: "byte \(error.offset) is not that of a partition's state of this version; delete the value, "
                    + "so that its tags begin anew")
        }
    }
}

/// The assignment of tags and gateways to parts of a fleet.
///
/// All processes of a fleet use the same numbers, because two processes with different numbers could both handle the
/// same tag.
package struct Partitioning: Hashable, Sendable {
    /// The number of partitions of the tags, in 1...1024.
    package var partitions: Int
    /// The number of groups of gateways, in 1...256.
    package var gatewayGroups: Int

    /// The standard numbers: 64 partitions and 16 groups of gateways.
    package init(partitions: Int = 64, gatewayGroups: Int = 16) {
        self.partitions = partitions
        self.gatewayGroups = gatewayGroups
    }

    /// Returns the partition of a tag, in 0..<`partitions`.
    package func partition(of tag: TagKey) -> Int { Self.index(of: tag.description, among: partitions) }

    /// Returns the group of a gateway by the name that it reports, in 0..<`gatewayGroups`.
    package func group(ofGateway name: String) -> Int { Self.index(of: name, among: gatewayGroups) }

    /// Returns the FNV-1a hash of the text modulo a count.
    private static func index(of text: String, among count: Int) -> Int {
        let hash = FNVHash.hash(of: text.utf8)
        // The low bits of FNV-1a depend on few bits of the last bytes: fold the high half into them.
        return Int((hash ^ (hash >> 32)) % UInt64(count))
    }

    /// Returns the text as one token of a subject: other characters than A-Z, a-z, 0-9, `_` and `-` are written as `=`
    /// and two hexadecimal digits for each byte of UTF-8.
    package static func token(_ text: String) -> String {
        EscapedText.escaped(text, mark: UInt8(ascii: "="), plain: "_-")
    }
}
