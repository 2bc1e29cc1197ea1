import IndoorLocalization
import MQTTSharing
import NATSLog
import TagTracking
import TagTrackingService
import indoorloc

/// The command `work`: locates the tags of the partitions that this process leases.
struct WorkCommand: Command {
    static let syntax = CommandSyntax(
        tool: "indoorloc-fleet", name: "work",
        summary: "locate a share of the tags from the readings in the log",
        details: """
            The tags are divided into partitions. All processes of 'work' with the same NATS servers share the
            partitions evenly, also when a process joins, ends or fails. A process stores the state of its partitions
            each second, and the next owner of a partition continues from there. The outputs are JSON, published at
            least once, with increasing epoch and sequence: on NATS under the subject positions.TAG, and on an MQTT
            broker under \(MQTTOutputSettings().prefix). The page of --http shows the tags of this process; its path
            /metrics has the lag and the counters. The processes share the health and the RSSI offsets of the receivers.

            example: indoorloc-fleet work --nats nats://127.0.0.1:4222 --venue Fixtures/tags/office
            """,
        options: NATSServerOptions.options + FleetOptions.venueOptions + FleetOptions.tagOptions + [
            MemberName.option,
            CommandOption(
                name: "outputs", argument: "ADDRESS",
                help: "destination of the outputs: nats, or mqtt[s]://[USER@]HOST[:PORT]; may be repeated "
                    + "(default nats)"
            ),
        ] + BrokerOptions.credentialOptions + FleetPageOptions.options + CommandOption.log)

    private let servers: NATSServerOptions
    private let fleet: FleetOptions
    private let name: String
    private let brokers: [MQTTBroker]
    private let publishesToNATS: Bool
    private let page: FleetPageOptions?

    init(_ arguments: ParsedArguments) throws {
        servers = try NATSServerOptions(arguments)
        fleet = try FleetOptions(arguments)
        page = try FleetPageOptions(arguments)
        name = MemberName.unique(arguments)
        let outputs = arguments.values["outputs"] ?? ["nats"]
        publishesToNATS = outputs.contains("nats")
        brokers = try outputs.filter { $0 != "nats" }.map { text in
            let broker: MQTTBroker
            do throws(MQTTSharingError) { broker = try MQTTBroker(address: text) } catch {
                throw UsageError(message: "--outputs: \(error)", command: arguments.syntax.name)
            }
            return try arguments.credentials(for: broker, what: "--outputs", prefix: "broker")
        }
    }

    func run() async throws {
        let packet = try await fleet.packet()
        let model = FleetModel(venue: packet.venue, settings: fleet.settings)
        let register = try fleet.register()
        let counters = WorkerCounters()
        let receivers = WorkerReceivers(venue: packet.venue)
        let page = try page?.start(packet) { counters.families + receivers.families }
        defer { page?.stop() }
        try await servers.withConnection(name: name, isPatient: true) { connection in
            try await work(connection, model, register, counters, receivers, page)
        }
    }

    private func work(
        _ connection: NATSConnection, _ model: FleetModel, _ register: TagRegister, _ counters: WorkerCounters,
        _ receivers: WorkerReceivers, _ page: FleetPage?
    ) async throws {
        let log = ProcessLog()
        let snapshots = try await NATSSnapshotStore(connection)
        let partitioning = try await snapshots.partitioning()
        let readings = try await NATSReadingLog(connection, partitioning: partitioning)
        let leases = try await NATSLeaseStore(connection)
        let publisher = publishesToNATS ? NATSOutputSink(publisher: try await NATSOutputPublisher(connection)) : nil
        let brokers = try await brokerSinks(log)
        let own: [(any FleetOutputSink)?] = [publisher, page]
        let sink = OutputSinks(sinks: own.compactMap(\.self) + brokers)
        let unixTime: @Sendable () -> Instant = { FleetClock.wallTime }
        let worker = PartitionWorker(
            log: readings, snapshots: snapshots, sink: sink, confirmation: publisher, name: name, counters: counters,
            unixTime: unixTime, report: { log.line($0, .warning) }, exchange: { receivers.exchange(with: &$0) },
            make: { epoch, snapshot in
                var machine = FleetMachine(model: model, register: register, epoch: epoch)
                if let snapshot {
                    machine = try FleetMachine(model: model, register: register, epoch: epoch, restoring: snapshot)
                }
                machine.receiverOffsets = receivers.offsets
                return machine
            })
        let watch = ReceiverWatch(
            receivers: receivers, store: try await NATSReceiverStore(connection, worker: name), counters: counters,
            sink: sink, log: log, unixTime: unixTime)
        let keeper = LeaseKeeper(
            store: leases, group: .work, name: name,
            settings: LeaseMachine.Settings(count: partitioning.partitions, timeToLive: NATSSetup.leaseTime),
            report: { log.line($0, .notice) }, work: { await worker.run(partition: $0, gate: $1) })
        let requests = EndRequests { keeper.leave() }
        log.line("\(name) shares \(partitioning.partitions) partitions", .info)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await watch.run() }
            defer { group.cancelAll() }
            try await keeper.run()
        }
        withExtendedLifetime(requests) {}
        for sink in brokers { await sink.stop() }
    }

    private func brokerSinks(_ log: ProcessLog) async throws -> [MQTTOutputSink] {
        var sinks: [MQTTOutputSink] = []
        for broker in brokers {
            var settings = MQTTOutputSettings()
            settings.instance = Partitioning.token(name)
            let sink = try MQTTOutputSink(broker, settings: settings) { log.line("outputs: \($0)", .warning) }
            await sink.start()
            Task {
                if let error = await sink.nameTaken() { log.line("outputs: \(error)", .error) }
            }
            sinks.append(sink)
        }
        return sinks
    }
}
