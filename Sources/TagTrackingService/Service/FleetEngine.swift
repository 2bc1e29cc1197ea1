import CMemory
import IndoorVocabulary
import TagTracking
import VenueModel

/// A fleet on one machine. It converts messages of gateways into outputs of tags and events of receivers.
///
/// The tags are distributed among partitions by their keys, and the partitions run in parallel. The outputs of a tag
/// depend on the messages and the times, not on the order in which partitions run.
package actor FleetEngine {
    /// The result of a step.
    package struct Step: Sendable {
        /// The outputs, in the order of their instants.
        package var outputs: [FleetOutput] = []
        /// The changes of the receivers' health.
        package var receiverEvents: [ReceiverEvent] = []
        /// The activity of gateways; nil in most steps.
        package var activity: GatewayActivity?
    }

    /// The time between two exchanges of evidence about receivers.
    private static let receiverInterval = Duration.seconds(1)
    /// The time between two reports of the activity of gateways.
    private static let activityInterval = Duration.seconds(2)
    /// The time between two returns of memory, and the least number of ended sessions for one, which hold about 10 MB.
    private static let (returnInterval, returnedSessions) = (Duration.seconds(10), 100)

    /// The venue with its receivers, and the settings.
    package nonisolated let model: FleetModel
    private var intake: TagIntake
    private let partitions: [FleetPartition]
    private let partitioning: Partitioning
    private var monitor: ReceiverMonitor
    private var nextExchange: Instant?
    private var nextActivity: Instant?
    private var nearest = NearestReceivers()
    /// The activity of gateways in the latest report.
    package private(set) var activity = GatewayActivity()
    /// The time of the next check of the ended sessions, and their number at the latest return of memory.
    private var nextReturn: Instant?
    private var endedSessions = 0
    /// The number of times that memory was returned.
    package private(set) var returnedCount = 0

    /// Creates an engine.
    ///
    /// - Parameter machines: the machines of the partitions, at least one, all with the same model.
    package init(intake: TagIntake, model: FleetModel, machines: [FleetMachine], monitor: ReceiverMonitor) {
        precondition(!machines.isEmpty, "an engine needs a partition")
        self.model = model
        self.intake = intake
        self.monitor = monitor
        partitioning = Partitioning(partitions: machines.count)
        partitions = machines.map { machine in
            var machine = machine
            machine.receiverOffsets = monitor.offsets
            return FleetPartition(machine)
        }
    }

    /// Handles messages, advances all tags to an instant, and returns the outputs.
    ///
    /// Call this function again only after it has returned.
    package func step(_ messages: [GatewayMessage], to now: Instant) async -> Step {
        var readings = Array(repeating: [TagReading](), count: partitions.count)
        for message in messages {
            for reading in intake.readings(of: message) {
                readings[partitioning.partition(of: reading.tag)].append(reading)
            }
        }
        var step = Step()
        step.outputs = await outputs(of: readings, to: now)
        await returnMemory(at: now)
        if nextExchange.map({ now >= $0 }) ?? true {
            nextExchange = now.advanced(by: Self.receiverInterval)
            step.receiverEvents = await exchange(at: now)
        }
        if nextActivity.map({ now >= $0 }) ?? true {
            nextActivity = now.advanced(by: Self.activityInterval)
            activity = nearest.activity(of: intake.senders, monitor)
            step.activity = activity
        }
        return step
    }

    private func outputs(of readings: [[TagReading]], to now: Instant) async -> [FleetOutput] {
        guard partitions.count > 1 else { return await partitions[0].step(readings[0], to: now) }
        return await withTaskGroup(of: [FleetOutput].self) { group in
            for (partition, readings) in zip(partitions, readings) {
                group.addTask { await partition.step(readings, to: now) }
            }
            var outputs: [FleetOutput] = []
            for await part in group { outputs += part }
            // A partition has all outputs of its tags, and their sequence is their order.
            return outputs.sorted { ($0.instant, $0.tag, $0.sequence) < ($1.instant, $1.tag, $1.sequence) }
        }
    }

    /// Gives memory back to the system after many sessions have ended: their memory lies between that of other
    /// sessions, and the C library keeps it for new allocations.
    private func returnMemory(at now: Instant) async {
        guard nextReturn.map({ now >= $0 }) ?? true else { return }
        nextReturn = now.advanced(by: Self.returnInterval)
        let ended = await statistics.endedSessions
        guard ended - endedSessions >= Self.returnedSessions else { return }
        endedSessions = ended
        returnedCount += 1
        cmemory_trim()
    }

    /// Replaces the register; returns the tags that aren't located any more, in their order.
    ///
    /// - Parameter tags: tags that were located earlier.
    package func use(register: TagRegister, for tags: some Sequence<TagKey> & Sendable) async -> [TagKey] {
        intake.use(register: register)
        let rules = intake
        var removed = Set(tags.filter { !rules.passes($0) })
        for partition in partitions {
            removed.formUnion(await partition.use(register: register) { rules.passes($0) })
        }
        return removed.sorted()
    }

    /// Combines the evidence of all partitions about receivers, and gives them the same offsets.
    private func exchange(at now: Instant) async -> [ReceiverEvent] {
        for event in intake.drainEvents() {
            monitor.setClockError(event.health == .healthy ? nil : event.text, of: event.receiver)
        }
        for partition in partitions { monitor.observe(await partition.takeReceiverEvidence()) }
        let events = monitor.advance(to: now)
        for partition in partitions { await partition.use(receiverOffsets: monitor.offsets) }
        return events
    }

    /// Stores the snapshots of all partitions.
    package func store(in folder: StateFolder) async throws(StateFolderError) {
        for (index, partition) in partitions.enumerated() {
            try folder.write(await partition.snapshot(), partition: index)
        }
        try folder.write(receivers: monitor.snapshot())
    }

    /// The counters of all partitions.
    package var statistics: FleetStatistics {
        get async {
            var sum = FleetStatistics()
            for partition in partitions { sum = sum.merged(with: await partition.statistics) }
            return sum
        }
    }

    /// The counters of messages and readings before the partitions.
    package var intakeStatistics: IntakeStatistics { intake.statistics }

    /// The health and the offsets of the receivers.
    package var receivers: ReceiverMonitor { monitor }

    /// The latest invalid message of each topic.
    package var problems: [IntakeProblem] { intake.problems }
}

/// One partition of a fleet.
private actor FleetPartition {
    private var machine: FleetMachine

    init(_ machine: FleetMachine) { self.machine = machine }

    var statistics: FleetStatistics { machine.statistics }

    /// Adds readings and advances the tags to an instant.
    func step(_ readings: [TagReading], to now: Instant) -> [FleetOutput] {
        for reading in readings { machine.observe(reading) }
        return machine.advance(to: now)
    }

    func takeReceiverEvidence() -> ReceiverEvidence { machine.takeReceiverEvidence() }

    func use(receiverOffsets: [Double]) { machine.receiverOffsets = receiverOffsets }

    func snapshot() -> [UInt8] { machine.snapshot() }

    /// Replaces the register, and removes the tags that don't pass; returns them.
    func use(register: TagRegister, _ passes: @Sendable (TagKey) -> Bool) -> [TagKey] {
        machine.register = register
        let removed = machine.tags.filter { !passes($0) }
        machine.remove(removed)
        return removed
    }
}
