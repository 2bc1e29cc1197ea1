import IndoorVocabulary
import TagTracking
import VenueModel

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

        /// Creates a setup.
        package init(
            model: FleetModel, register: TagRegister = TagRegister(), formats: [TopicFormat] = [], seed: UInt64 = 0,
            partitionCount: Int = 1
        ) {
            self.model = model
            self.register = register
            self.formats = formats
            self.seed = seed
            self.partitionCount = partitionCount
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
        let removed = Set(latest.tags.keys).union(machines.flatMap(\.tags)).union(start.register)
            .filter { !intake.passes($0) }.sorted()
        for index in machines.indices { machines[index].remove(removed) }
        for tag in removed { latest.remove(tag) }
        let present = Set(machines.flatMap { machine in machine.tags.filter(machine.isPresent) })
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
            // The state of a tag may have been saved a moment before that of its partition.
            if !present.contains(state.tag) { state.isPresent = false }
            return state.outputs
        }
        try folder?.write(register: Set(setup.register.entries.keys))
        return Started(
            engine: FleetEngine(intake: intake, model: setup.model, machines: machines, monitor: monitor),
            epoch: start.epoch, restoredTags: machines.reduce(0) { $0 + $1.statistics.knownTags }, places: places,
            removedTags: removed, earlierRegister: start.register, problems: problems)
    }

    private static func machine(
        _ setup: Setup, epoch: UInt64, restoring snapshot: [UInt8]?
    ) throws(FleetSnapshotError) -> FleetMachine {
        guard let snapshot else {
            return FleetMachine(model: setup.model, register: setup.register, epoch: epoch, seed: setup.seed)
        }
        return try FleetMachine(
            model: setup.model, register: setup.register, epoch: epoch, seed: setup.seed, restoring: snapshot)
    }
}
