import Foundation
import IndoorLocalization
import MQTTSharing
import NATSLog
import SecretFiles
import TagHistory
import TagTracking
import TagTrackingService
import indoorloc

/// The command `setup`: creates the log, the leases and the states of a fleet on a NATS server.
struct SetupCommand: Command {
    static let syntax = CommandSyntax(
        tool: "indoorloc-fleet", name: "setup",
        summary: "create the log, the leases and the states of a fleet on a NATS server",
        details: """
            Creates the stream READINGS for the readings, the stream POSITIONS for the outputs, and the buckets
            indoorloc-leases, indoorloc-state and indoorloc-receivers, unless they exist. With several servers in a
            cluster, --replicas 3 keeps all of them if one server is lost. An existing stream with other settings is an
            error.

            example: indoorloc-fleet setup --nats nats://127.0.0.1:4222
            """,
        options: NATSServerOptions.options + [
            CommandOption(
                name: "replicas", argument: "N", help: "servers that store each reading: 1, 3 or 5 (default 1)"),
            CommandOption(
                name: "partitions", argument: "N", help: "partitions of the tags, from 1 to 1024 (default 64)"),
            CommandOption(
                name: "gateway-groups", argument: "N", help: "groups of gateways, from 1 to 256 (default 16)"),
            CommandOption(
                name: "max-age", argument: "SECONDS",
                help: "time for which the log keeps readings, from 120 (default 3600)"),
            CommandOption(
                name: "max-bytes", argument: "N",
                help: "size of READINGS in bytes above which it discards the oldest readings (default: no limit)"),
            CommandOption(
                name: "output-age", argument: "SECONDS",
                help: "time for which POSITIONS keeps outputs (default 3600)"),
            CommandOption(
                name: "output-bytes", argument: "N",
                help: "size of POSITIONS in bytes above which it discards the oldest outputs (default: no limit)"),
        ] + CommandOption.log)

    private let servers: NATSServerOptions
    private let setup: NATSSetup

    init(_ arguments: ParsedArguments) throws {
        servers = try NATSServerOptions(arguments)
        var setup = NATSSetup()
        setup.replicas = try arguments.number("replicas", in: 1...5, else: 1)
        guard [1, 3, 5].contains(setup.replicas) else {
            throw UsageError(message: "--replicas must be 1, 3 or 5", command: arguments.syntax.name)
        }
        setup.partitioning.partitions = try arguments.number("partitions", in: 1...1024, else: 64)
        setup.partitioning.gatewayGroups = try arguments.number("gateway-groups", in: 1...256, else: 16)
        // The stream must keep readings at least as long as the window in which it detects repeated readings.
        setup.maximumAge = .seconds(try arguments.number("max-age", in: 120...31_536_000, else: 3_600))
        if arguments.has("max-bytes") {
            setup.maximumBytes = try arguments.number("max-bytes", in: 1 << 20...Int64.max, else: 0)
        }
        setup.maximumOutputAge = .seconds(try arguments.number("output-age", in: 120...31_536_000, else: 3_600))
        if arguments.has("output-bytes") {
            setup.maximumOutputBytes = try arguments.number("output-bytes", in: 1 << 20...Int64.max, else: 0)
        }
        self.setup = setup
    }

    func run() async throws {
        try await servers.withConnection(name: "indoorloc-fleet setup", isPatient: false) { connection in
            try StandardOutput.write(lines: try await setup.run(connection))
        }
    }
}

/// The command `ingest`: appends the readings of gateways on an MQTT broker to the log.
struct IngestCommand: Command {
    static let syntax = CommandSyntax(
        tool: "indoorloc-fleet", name: "ingest",
        summary: "append the readings of gateways on an MQTT broker to the log",
        details: """
            All processes of 'ingest' with the same NATS servers share the gateways evenly, by groups of their names,
            also when a process joins, ends or fails. Each process receives all messages, appends the readings of its
            gateways to the log, and continues after the log has acknowledged them. Give the same --tags and --unknown
            to all processes of 'ingest' and 'work'. SIGHUP, or a change of the file, reads --tags again. Run
            'indoorloc-fleet setup' once before. With --http, the paths /metrics and /api/v1/health report the state of
            the process.

            example: indoorloc-fleet ingest --broker mqtt://localhost --nats nats://127.0.0.1:4222
            """,
        options: BrokerOptions.options + [.topic] + NATSServerOptions.options + FleetOptions.registerOptions + [
            MemberName.option
        ] + MetricsOptions.options
            + CommandOption.log)

    private let broker: MQTTBroker
    private let filters: [GatewayFilter]
    private let servers: NATSServerOptions
    private let fleet: FleetOptions
    private let name: String
    private let metrics: MetricsOptions?

    init(_ arguments: ParsedArguments) throws {
        broker = try BrokerOptions(arguments).broker
        filters = try arguments.gatewayFilters()
        servers = try NATSServerOptions(arguments)
        fleet = try FleetOptions(arguments, hasVenue: false)
        name = MemberName.unique(arguments)
        metrics = try MetricsOptions(arguments)
    }

    func run() async throws {
        let register = try fleet.register()
        let file = fleet.registerFile(register)
        let reloading = ReloadSignal(file)
        defer { withExtendedLifetime(reloading) {} }
        let intake = TagIntake(register: register, settings: fleet.settings, formats: filters.formats)
        try await servers.withConnection(name: name, isPatient: true) { try await ingest($0, intake, file) }
    }

    private func ingest(
        _ connection: NATSConnection, _ intake: TagIntake, _ register: ReloadedFile<TagRegister>?
    ) async throws {
        let log = ProcessLog()
        let stores = try await servers.patiently { () async throws(FleetStoreError) -> FleetStores in
            try await FleetStores(connection)
        }
        let (partitioning, leases) = (stores.partitioning, stores.leases)
        let ingest = FleetIngest(
            input: FleetInput(broker, filters: filters.map(\.filter)) { _ in FleetIngest.now }, intake: intake,
            log: stores.readings, partitioning: partitioning, newRegister: { register?.take() },
            report: Self.reporter(log))
        let server = try metrics?.start { ingest.families }
        defer { server?.stop() }
        let keeper = LeaseKeeper(
            store: leases, group: .ingest, name: name,
            settings: LeaseMachine.Settings(count: partitioning.gatewayGroups, timeToLive: leases.timeToLive),
            isAble: { ingest.canReceive }, report: { log.line($0, .notice) }, work: { await ingest.own($0, $1) })
        let requests = EndRequests { keeper.leave() }
        log.line("\(name) shares \(partitioning.gatewayGroups) groups of gateways", .info)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await ingest.run() }
            group.addTask { try await keeper.run() }
            if let register { group.addTask { await register.watch() } }
            // The keeper returns when other processes own the gateways.
            defer { group.cancelAll() }
            try await group.next()
        }
        withExtendedLifetime(requests) {}
        let counts = ingest.counts
        log.line("\(counts.appended) readings appended, \(counts.lost) messages lost", .info)
    }

    private static func reporter(_ log: ProcessLog) -> @Sendable (FleetIngest.Report) -> Void {
        { report in
            switch report {
            case .connected(let refused):
                if refused.isEmpty { return log.line("the broker has granted the subscriptions", .info) }
                log.line("the broker refuses the topics \(refused.joined(separator: ", "))", .warning)
            case .disconnected(let error, let pause):
                log.line("\(error); connecting again in \(Int(pause.seconds.rounded(.up))) s", .warning)
            case .lost(let count):
                log.line("\(count) messages were lost, as the log accepts readings too slowly", .warning)
            case .receivers(let events):
                for event in events { log.line(event.logLine, event.logLevel) }
            }
        }
    }
}

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
            SIGHUP, or a change of the file, reads --tags again: with --unknown none, tags that left it are removed, and
            readings of other tags in the log aren't used.

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
        let register = fleet.registerFile(try fleet.register())
        let reloading = ReloadSignal(register)
        defer { withExtendedLifetime(reloading) {} }
        let counters = WorkerCounters()
        let receivers = WorkerReceivers(venue: packet.venue)
        let page = try page?.start(packet) { counters.families + receivers.families }
        defer { page?.stop() }
        try await servers.withConnection(name: name, isPatient: true) { connection in
            try await work(connection, model, register, counters, receivers, page)
        }
    }

    private func work(
        _ connection: NATSConnection, _ model: FleetModel, _ register: ReloadedFile<TagRegister>?,
        _ counters: WorkerCounters, _ receivers: WorkerReceivers, _ page: FleetPage?
    ) async throws {
        let log = ProcessLog()
        let (stores, statistics, publisher) = try await servers.patiently {
            () async throws(FleetStoreError) -> (FleetStores, NATSReceiverStore, NATSOutputSink?) in
            (
                try await FleetStores(connection), try await NATSReceiverStore(connection, worker: name),
                publishesToNATS ? NATSOutputSink(publisher: try await NATSOutputPublisher(connection)) : nil
            )
        }
        let (partitioning, leases) = (stores.partitioning, stores.leases)
        let brokers = try await brokerSinks(log)
        let own: [(any FleetOutputSink)?] = [publisher, page]
        let sink = OutputSinks(sinks: own.compactMap(\.self) + brokers)
        let unixTime: @Sendable () -> Instant = { FleetClock.wallTime }
        let ingests = IngestWatch(store: leases) { isListening in
            if isListening { return log.line("an ingest receives messages of gateways again", .notice) }
            log.line("no ingest receives messages of gateways; until one does, no tag becomes away", .warning)
        }
        let worker = PartitionWorker(
            log: stores.readings, snapshots: stores.snapshots, sink: sink, confirmation: publisher,
            partitioning: partitioning, name: name, counters: counters, unixTime: unixTime,
            report: { log.line($0, .warning) },
            exchange: { (machine: inout FleetMachine, time: Instant) in
                receivers.exchange(with: &machine, isListening: ingests.isListening, at: time)
            },
            newRegister: { number in register?.content(after: &number) },
            make: { epoch, snapshot in
                let known = register?.current ?? TagRegister()
                var machine = FleetMachine(model: model, register: known, epoch: epoch)
                if let snapshot {
                    machine = try FleetMachine(model: model, register: known, epoch: epoch, restoring: snapshot)
                }
                machine.receiverOffsets = receivers.offsets
                return machine
            })
        let watch = ReceiverWatch(
            receivers: receivers, store: statistics, counters: counters, sink: sink, log: log, unixTime: unixTime)
        let keeper = LeaseKeeper(
            store: leases, group: .work, name: name,
            settings: LeaseMachine.Settings(count: partitioning.partitions, timeToLive: leases.timeToLive),
            report: { log.line($0, .notice) }, work: { await worker.run(partition: $0, gate: $1) })
        let requests = EndRequests { keeper.leave() }
        log.line("\(name) shares \(partitioning.partitions) partitions", .info)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await watch.run() }
            group.addTask { await ingests.run() }
            group.addTask { await register?.watch() }
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

/// The command `store`: writes the positions and events of a fleet into a PostgreSQL database.
struct StoreCommand: Command {
    static let syntax = CommandSyntax(
        tool: "indoorloc-fleet", name: "store",
        summary: "write the positions and events of a fleet into a PostgreSQL database",
        details: """
            Reads the outputs that 'indoorloc track' or 'indoorloc-fleet work' publishes on an MQTT broker, or those of
            'indoorloc-fleet work' in the stream POSITIONS of a NATS server. The table indoorloc_latest has one row for
            each tag, and indoorloc_history one for each output. A repeated or reordered output changes no row. With the
            extension PostGIS, both have a column geom. The first run needs --create.

            \(DatabaseOptions.details)

            With --nats, outputs wait in the stream while the database or this command is away, for an hour unless
            'setup' has another time. With --broker, they wait in memory while the database is away; above --queue, the
            oldest are lost and counted. SIGTERM and SIGINT write the waiting outputs, within 10 s, and end the command.

            example: indoorloc-fleet store --broker mqtt://localhost --database postgresql:///positions --create
            """,
        options: DatabaseOptions.options + [
            CommandOption(
                name: "prefix", argument: "PREFIX",
                help: "prefix of the fleet's topics (default \(MQTTOutputSettings().prefix))")
        ] + BrokerOptions.options + NATSServerOptions.options + [.seconds] + CommandOption.log)

    private let database: DatabaseOptions
    private let source: any OutputSource
    private let limit: Duration?

    init(_ arguments: ParsedArguments) throws {
        let command = arguments.syntax.name
        database = try DatabaseOptions(arguments)
        limit = try arguments.limit()
        if arguments.has("nats") {
            guard !arguments.has("broker") else {
                throw UsageError(message: "--broker and --nats exclude each other", command: command)
            }
            source = NATSOutputSource(servers: try NATSServerOptions(arguments))
            return
        }
        guard arguments.has("broker") else {
            throw UsageError(message: "--broker or --nats is missing", command: command)
        }
        var topics = MQTTOutputSettings()
        topics.prefix = arguments.value("prefix") ?? topics.prefix
        do throws(MQTTSharingError) { try topics.check() } catch {
            throw UsageError(message: "--prefix: \(error)", command: command)
        }
        source = OutputSubscription(try BrokerOptions(arguments).broker, prefix: topics.prefix)
    }

    func run() async throws {
        let store = database.store()
        var service = StoreRun(store)
        try await service.run(limit: limit) { [source] give in
            await source.run(into: store, give)
        }
    }
}

/// The command `load`: measures how many tags this machine locates.
struct LoadCommand: Command {
    static let syntax = CommandSyntax(
        tool: "indoorloc-fleet", name: "load", summary: "measure how many tags this machine locates",
        details: """
            Simulates tags that walk through a building with receivers on each floor, and passes their messages through
            the decoder and the engine, on all cores and as fast as they allow. About four receivers receive each
            advertisement.

            Times are processor times. The latency is the time from a reading to the first position that uses it, on a
            machine without other work; it includes the wait for the tag's next position, one a second. A core lags if
            it needs more than a second for the readings of a second. The memory of a tag excludes the tables of the
            building, which all tags share. Build with '-c release'; figures of a debug build are meaningless.

            example: indoorloc-fleet load --tags 100000 --receivers 200 --seconds 60
            """,
        options: [
            CommandOption(name: "tags", argument: "N", help: "number of tags (default 10000)"),
            CommandOption(name: "receivers", argument: "N", help: "number of receivers (default 200)"),
            CommandOption(
                name: "class", argument: "CLASS", help: "class of the tags: light or standard (default light)",
                proposals: .words(["light", "standard"])),
            CommandOption(
                name: "interval", argument: "SECONDS", help: "time between two advertisements of a tag (default 1)"),
            CommandOption(name: "cores", argument: "N", help: "number of cores (default: all of the machine)"),
            CommandOption(name: "seconds", argument: "N", help: "simulated seconds to measure (default 30)"),
            CommandOption(name: "warm-up", argument: "N", help: "simulated seconds before them (default 10)"),
            CommandOption(
                name: "seed", argument: "N", help: "random seed (default 0); the same seed gives the same readings"),
        ])

    private let settings: LoadWorker.Settings
    private let cores: Int

    init(_ arguments: ParsedArguments) throws {
        var settings = LoadWorker.Settings()
        settings.tags = try arguments.number("tags", in: 1...10_000_000, else: 10_000)
        settings.receivers = try arguments.number("receivers", in: 1...10_000, else: 200)
        settings.seconds = try arguments.number("seconds", in: 1...86_400, else: 30)
        settings.warmUp = try arguments.number("warm-up", in: 0...3600, else: 10)
        settings.interval = try arguments.seconds("interval", in: 0.05...3600, else: 1)
        settings.seed = try arguments.number("seed", in: 0...UInt64.max, else: 0)
        settings.tagClass = arguments.value("class") ?? "light"
        guard FleetSettings().classes[settings.tagClass] != nil else {
            let message = "--class must be light or standard, not '\(settings.tagClass)'"
            throw UsageError(message: message, command: arguments.syntax.name)
        }
        let all = ProcessInfo.processInfo.activeProcessorCount
        cores = min(try arguments.number("cores", in: 1...1024, else: all), settings.tags)
        self.settings = settings
    }

    func run() async throws {
        #if DEBUG
            StandardError.line("this is a debug build: the figures are meaningless")
        #endif
        let report = try await withCheckedThrowingContinuation { continuation in
            // Use a separate thread, because the work would block a thread of Swift's tasks.
            DispatchQueue(label: "IndoorLocalization.Load").async { [settings, cores] in
                continuation.resume(with: Result { try Self.measure(settings, cores: cores) })
            }
        }
        try StandardOutput.write(report.text)
    }

    private static func measure(_ settings: LoadWorker.Settings, cores: Int) throws -> LoadReport {
        let venue = LoadVenue.venue(receivers: settings.receivers)
        let model = FleetModel(venue: venue, settings: settings.fleet)
        let results = Guarded<[Result<LoadWorker.Result, GatewayError>]>([])
        DispatchQueue.concurrentPerform(iterations: cores) { core in
            let tags = settings.tags * core / cores..<settings.tags * (core + 1) / cores
            let result = Result { () throws(GatewayError) in
                var worker = LoadWorker(settings, model, tags: tags)
                return try worker.run()
            }
            results.withLock { $0.append(result) }
        }
        // The results hold the machines with their tags.
        let memory = ResidentMemory.bytes ?? 0
        let all = try results.withLock(\.self).map { try $0.get() }
        return LoadReport(all, settings, floors: venue.maps.count, residentMemory: memory)
    }
}
