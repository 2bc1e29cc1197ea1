import BeaconScanning
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
        /// The batteries of tags that have changed.
        package var batteries: [TagKey: TagBattery] = [:]
        /// The readings of the tags whose readings are reported.
        package var readings: [TagReading] = []
        /// The activity of gateways; nil in most steps.
        package var activity: GatewayActivity?
    }

    /// The time between two exchanges of evidence about receivers.
    private static let receiverInterval = Duration.seconds(1)
    /// The time between two reports of the activity of gateways.
    private static let activityInterval = Duration.seconds(2)
    /// The time between two returns of memory, and the least number of ended sessions for one, which hold about 10 MB.
    private static let (returnInterval, returnedSessions) = (Duration.seconds(10), 100)

    /// The venue at the start with its receivers, and the settings.
    package nonisolated let model: FleetModel
    private var intake: TagIntake
    private let partitions: [FleetPartition]
    private let partitioning: Partitioning
    private var monitor: ReceiverMonitor
    /// Whether messages of gateways can arrive.
    private var isListening = true
    private var nextExchange: Instant?
    private var nextActivity: Instant?
    private var nearest = NearestReceivers()
    private var hearing: HearingTable
    /// The tags whose readings each step reports, for each that needs them.
    private var reportedTags: [Reader: Set<TagKey>] = [:]
    /// The trained rooms, in a fleet without a floor plan, which replace the partitions; nil with a floor plan.
    private var rooms: RoomFleetMachine?
    /// The activity of gateways in the latest report.
    package private(set) var activity = GatewayActivity()
    /// The time of the next check of the ended sessions, and their number at the latest return of memory.
    private var nextReturn: Instant?
    private var endedSessions = 0
    /// The number of times that memory was returned.
    package private(set) var returnedCount = 0

    /// Creates an engine.
    ///
    /// - Parameters:
    ///   - machines: the machines of the partitions, at least one, all with the same model.
    ///   - rooms: the trained rooms, in a fleet without a floor plan; nil with a floor plan.
    package init(
        intake: TagIntake, model: FleetModel, machines: [FleetMachine], monitor: ReceiverMonitor,
        rooms: RoomFleetMachine? = nil
    ) {
        precondition(!machines.isEmpty, "an engine needs a partition")
        self.model = model
        self.rooms = rooms
        self.intake = intake
        self.monitor = monitor
        hearing = HearingTable(venue: model.venue)
        partitioning = Partitioning(partitions: machines.count)
        partitions = machines.map { machine in
            var machine = machine
            machine.receiverOffsets = monitor.offsets
            return FleetPartition(machine)
        }
    }

    /// Sets whether messages of gateways can arrive. While they can't, no tag becomes away.
    package func listen(_ isListening: Bool, at now: Instant) async {
        guard isListening != self.isListening else { return }
        self.isListening = isListening
        rooms?.listen(isListening, at: now)
        for partition in partitions { await partition.listen(isListening, at: now) }
    }

    /// Moves the times of all tags, gateways and receivers, after the clock was set forward: everything is as old as
    /// before.
    package func move(by step: Duration) async {
        intake.move(by: step)
        hearing.move(by: step)
        rooms?.move(by: step)
        for partition in partitions {
            monitor.observe(await partition.takeReceiverEvidence())
            await partition.move(by: step)
        }
        monitor.move(by: step)
    }

    /// Counts a message as invalid that its receiver has already tried to decode.
    ///
    /// - Parameter sender: the address of its sender; nil if unknown.
    package func refuse(_ message: GatewayMessage, from sender: String?, _ error: GatewayError) {
        intake.refuse(message, from: sender, error)
    }

    /// Handles messages, advances all tags to an instant, and returns the outputs.
    ///
    /// Call this function again only after it has returned.
    package func step(_ messages: [GatewayMessage], to now: Instant) async -> Step {
        var step = Step()
        var readings = Array(repeating: [TagReading](), count: partitions.count)
        for message in messages {
            for reading in intake.readings(of: message) {
                hearing.add(reading)
                if reportedTags.values.contains(where: { $0.contains(reading.tag) }) { step.readings.append(reading) }
                guard rooms == nil else {
                    rooms?.observe(reading)
                    continue
                }
                readings[partitioning.partition(of: reading.tag)].append(reading)
            }
        }
        step.batteries = intake.drainBatteries()
        step.outputs = rooms == nil ? await outputs(of: readings, to: now) : rooms?.advance(to: now) ?? []
        await returnMemory(at: now)
        if nextExchange.map({ now >= $0 }) ?? true {
            nextExchange = now.advanced(by: Self.receiverInterval)
            step.receiverEvents = await exchange(at: now)
        }
        if nextActivity.map({ now >= $0 }) ?? true {
            nextActivity = now.advanced(by: Self.activityInterval)
            // Without a venue, a gateway needs no receiver.
            activity = rooms != nil ? GatewayActivity() : nearest.activity(of: intake.senders, monitor)
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

    /// What needs the readings of some tags.
    package enum Reader: Hashable, Sendable {
        /// The walks of a survey.
        case survey
        /// The recordings from which the venue is learned.
        case recordings
    }

    /// Selects the tags whose readings each step reports, instead of those that the reader selected before.
    package func report(readingsOf tags: Set<TagKey>, to reader: Reader) { reportedTags[reader] = tags }

    /// Replaces the register; returns the tags that aren't located any more, in their order.
    ///
    /// - Parameter tags: tags that were located earlier.
    package func use(register: TagRegister, for tags: some Sequence<TagKey> & Sendable) async -> [TagKey] {
        intake.use(register: register)
        let rules = intake
        var removed = Set(tags.filter { !rules.passes($0) })
        rooms?.register = register
        if let known = rooms?.knownTags { removed.formUnion(known.filter { !rules.passes($0) }) }
        rooms?.remove(removed)
        for partition in partitions {
            removed.formUnion(await partition.use(register: register))
        }
        hearing.remove(removed)
        return removed.sorted()
    }

    /// Uses another radio map of the venue. Tags keep their places.
    ///
    /// - Parameter model: a model of the venue with the same maps, rooms, fences and receivers.
    /// - Throws: `FleetSnapshotError` if the model is of another venue.
    package func use(_ model: FleetModel) async throws(FleetSnapshotError) {
        for partition in partitions { try await partition.use(model) }
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
            if let rooms { return rooms.statistics }
            var sum = FleetStatistics()
            for partition in partitions { sum = sum.merged(with: await partition.statistics) }
            return sum
        }
    }

    /// The counters of messages and readings before the partitions.
    package var intakeStatistics: IntakeStatistics { intake.statistics }

    /// The health and the offsets of the receivers.
    package var receivers: ReceiverMonitor { monitor }

    /// The beacons that several addresses send, see `TagIntake.sharedBeacons`.
    package var sharedBeacons: [BeaconIdentity: [DeviceAddress]] { intake.sharedBeacons }

    /// The latest invalid message of each topic.
    package var problems: [IntakeProblem] { intake.problems }
}

extension FleetEngine: HearingSource {
    package func hearings(of tag: TagKey) -> [HearingTable.Hearing] { known(hearing.hearings(of: tag)) }

    package func hearings(by receiver: String) -> [HearingTable.Hearing]? { hearing.hearings(by: receiver).map(known) }

    /// Returns hearings in which a gateway of the trained rooms is known.
    private func known(_ hearings: [HearingTable.Hearing]) -> [HearingTable.Hearing] {
        guard let rooms else { return hearings }
        return hearings.map { hearing in
            var known = hearing
            known.isInVenue = rooms.isTrained(gateway: hearing.receiver)
            return known
        }
    }

    package func lastReadings(of tags: [TagKey]) -> [TagKey: Instant] {
        Dictionary(tags.compactMap { tag in hearing.lastReading(of: tag).map { (tag, $0) } }) { first, _ in first }
    }

    /// The tags that any receiver has heard, the one that was heard least recently first.
    package var heardTags: [TagKey] { hearing.heardTags }
}

extension FleetEngine {
    /// A gateway that sends messages, in a fleet without a floor plan.
    package struct Gateway: Hashable, Sendable {
        package var name: String
        /// The time of the latest message, counted from the Unix epoch.
        package var latest: Instant
        /// Whether the training of a room has it.
        package var isTrained: Bool
    }

    /// The training of the rooms; empty in a fleet with a floor plan.
    package var training: RoomTrainingSet { rooms?.training ?? RoomTrainingSet() }

    /// The trainings that run.
    package var trainingProgress: [RoomFleetMachine.Progress] { rooms?.progress ?? [] }

    /// The gateways that send messages, in the order of their names.
    package var gateways: [Gateway] {
        intake.senders.map { sender in
            Gateway(
                name: sender.name, latest: sender.latest,
                isTrained: rooms?.isTrained(gateway: sender.name) ?? false)
        }
        .sorted { $0.name < $1.name }
    }

    /// Changes the trained rooms; without them, it has no effect. The outputs of a change are those of the next step.
    package func changeRooms(
        _ change: @Sendable (inout RoomFleetMachine) throws(RoomTrainingProblem) -> Void
    ) throws(RoomTrainingProblem) {
        guard var changed = rooms else { return }
        try change(&changed)
        rooms = changed
    }
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

    func use(_ model: FleetModel) throws(FleetSnapshotError) { machine = try machine.moved(to: model) }

    func listen(_ isListening: Bool, at now: Instant) { machine.listen(isListening, at: now) }

    func move(by step: Duration) { machine.move(by: step) }

    func use(receiverOffsets: [Double]) { machine.receiverOffsets = receiverOffsets }

    func snapshot() -> [UInt8] { machine.snapshot() }

    /// Replaces the register, and removes the tags that don't pass; returns them.
    func use(register: TagRegister) -> [TagKey] { machine.use(register: register, for: []) }
}

extension FleetEngine {
    /// The parts from which an engine starts.
    package struct Setup: Sendable {
        /// The venue with its receivers, and the settings.
        package var model: FleetModel
        /// The known tags.
        package var register: TagRegister
        /// The formats of topics.
        package var formats: [TopicFormat]
        /// The seed of all random numbers.
        package var seed: UInt64
        /// The number of partitions of a new fleet, at least 1.
        package var partitionCount: Int
        /// The training of rooms, in a fleet without a floor plan; nil with a floor plan.
        package var rooms: RoomTrainingSet?
        /// Whether the positions of tags in earlier snapshots are used although the version of the venue differs.
        package var keepsPositions = false

        /// Creates a setup.
        package init(
            model: FleetModel, register: TagRegister = TagRegister(), formats: [TopicFormat] = [], seed: UInt64 = 0,
            partitionCount: Int = 1, rooms: RoomTrainingSet? = nil
        ) {
            self.model = model
            self.register = register
            self.formats = formats
            self.seed = seed
            self.partitionCount = partitionCount
            self.rooms = rooms
        }
    }

    /// An engine at its start.
    package struct Started: Sendable {
        /// The engine.
        package let engine: FleetEngine
        /// The number of the start.
        package let epoch: UInt64
        /// The number of tags that continue from a snapshot.
        package let restoredTags: Int
        /// The latest outputs of the tags of earlier starts, including those that were away for long.
        package let places: [FleetOutput]
        /// The tags of earlier starts that are not located any more, because they left the register.
        package let removedTags: [TagKey]
        /// The keys of the register of the earlier start.
        package let earlierRegister: Set<TagKey>
        /// The problems of snapshots that can't be used, with the new paths of their files and the consequences.
        package let problems: [String]
    }

    /// Starts an engine, which continues from the snapshots of a folder.
    ///
    /// - Parameters:
    ///   - folder: the folder with the state; nil for none. The epoch is then the number of seconds since 1970.
    ///   - now: the time, counted from the Unix epoch.
    package static func start(
        _ setup: Setup, in folder: StateFolder?, at now: Instant
    ) throws(StateFolderError) -> Started {
        let none = StateFolder.Start(
            epoch: UInt64(max(1, now.nanoseconds / 1_000_000_000)),
            snapshots: Array(repeating: nil, count: max(1, setup.partitionCount)))
        let start = try folder?.begin(partitionCount: max(1, setup.partitionCount), at: now) ?? none
        var machines: [FleetMachine] = []
        var problems: [String] = []
        for (partition, snapshot) in start.snapshots.enumerated() {
            do throws(FleetSnapshotError) {
                machines.append(try machine(setup, epoch: start.epoch, restoring: snapshot))
            } catch {
                machines.append(
                    FleetMachine(model: setup.model, register: setup.register, epoch: start.epoch, seed: setup.seed))
                guard let path = try folder?.setAside(partition: partition) else { continue }
                problems.append("\(path): \(error) The tags of this partition begin anew.")
            }
        }
        var monitor = ReceiverMonitor(venue: setup.model.venue)
        if let snapshot = start.receivers {
            do throws(FleetSnapshotError) {
                monitor = try ReceiverMonitor(venue: setup.model.venue, restoring: snapshot)
            } catch {
                if let path = try folder?.setAside(partition: nil) {
                    problems.append("\(path): \(error) The receivers' offsets are learned again.")
                }
            }
        }
        var limits = TagIntake.Limits()
        // Space for pairs of each known tag with 64 receivers, and for those of some unknown tags.
        limits.pairs = min(limits.pairs, 65_536 + 64 * setup.register.entries.count)
        var intake = TagIntake(
            register: setup.register, settings: setup.model.settings, formats: setup.formats, limits: limits)
        var latest = LatestOutputs()
        do throws(FleetOutputError) {
            for line in (start.places ?? []).split(separator: UInt8(ascii: "\n")) {
                latest.add(try FleetOutput(json: Array(line)))
            }
        } catch {
            latest = LatestOutputs()
            if let path = try folder?.setAsidePlaces() {
                problems.append("\(path): \(error) The places of tags that are away are unknown.")
            }
        }
        if let lead = lead(of: machines, setup.rooms == nil ? [] : latest.tags.values.filter(\.isPresent), at: now) {
            for index in machines.indices { machines[index].move(by: .zero - lead) }
            monitor.move(by: .zero - lead)
            problems.append(
                "the clock is \(lead.components.seconds) s behind the time of the state: the tags continue at the present "
                    + "time; check the clock of this machine")
        }
        let removed = Set(latest.tags.keys).union(machines.flatMap(\.tags)).union(start.register)
            .filter { !intake.passes($0) }.sorted()
        for index in machines.indices { machines[index].remove(removed) }
        for tag in removed { latest.remove(tag) }
        var rooms = setup.rooms.map {
            RoomFleetMachine(
                training: $0, settings: setup.model.settings, register: setup.register, epoch: start.epoch)
        }
        let present =
            rooms?.begin(
                with: latest.tags.values.map { state in
                    var state = state
                    state.instant = min(state.instant, now)
                    return state
                })
            ?? Set(machines.flatMap { machine in machine.tags.filter(machine.isPresent) })
        intake.locate(present, at: now)
        for index in machines.indices {
            machines[index].unknownTagMemory = setup.model.settings.unknownTagMemory / machines.count
        }
        let maps = Set(setup.model.venue.maps.map(\.id))
        let places = latest.tags.values.sorted { $0.tag < $1.tag }.flatMap { state in
            var state = state
            if let place = state.position, place.venueID != setup.model.venue.id || !maps.contains(place.mapID) {
                state.position = nil
            }
            if setup.rooms == nil { state.trained = nil }
            // The state of a tag may have been saved a moment before that of its partition.
            if !present.contains(state.tag) { state.isPresent = false }
            return state.outputs.map { output in
                var output = output
                output.instant = min(output.instant, now)
                return output
            }
        }
        try folder?.write(register: Set(setup.register.entries.keys))
        return Started(
            engine: FleetEngine(
                intake: intake, model: setup.model, machines: machines, monitor: monitor,
                rooms: rooms),
            epoch: start.epoch,
            restoredTags: machines.reduce(rooms == nil ? 0 : present.count) { $0 + $1.statistics.knownTags },
            places: places,
            removedTags: removed, earlierRegister: start.register, problems: problems)
    }

    /// The time from which a state is of a later time than the present.
    private static let leastLead = Duration.seconds(2)

    /// Returns the time by which a state is ahead of the clock: the clock is behind after a start without a battery, or was
    /// ahead at the earlier start. Nil if the state isn't ahead.
    private static func lead(
        of machines: [FleetMachine], _ present: [LatestOutput], at now: Instant
    ) -> Duration? {
        let latest = (machines.compactMap(\.time) + present.map(\.instant)).max()
        return latest.map { now.duration(to: $0) }.flatMap { $0 > leastLead ? $0 : nil }
    }

    private static func machine(
        _ setup: Setup, epoch: UInt64, restoring snapshot: [UInt8]?
    ) throws(FleetSnapshotError) -> FleetMachine {
        guard let snapshot else {
            return FleetMachine(model: setup.model, register: setup.register, epoch: epoch, seed: setup.seed)
        }
        return try FleetMachine(
            model: setup.model, register: setup.register, epoch: epoch, seed: setup.seed, restoring: snapshot,
            keepsPositions: setup.keepsPositions)
    }
}
