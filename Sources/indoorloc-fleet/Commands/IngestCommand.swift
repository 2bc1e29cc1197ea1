import IndoorLocalization
import MQTTSharing
import NATSLog
import TagTracking
import TagTrackingService
import indoorloc

/// The command `ingest`: appends the readings of gateways on an MQTT broker to the log.
struct IngestCommand: Command {
    static let syntax = CommandSyntax(
        tool: "indoorloc-fleet", name: "ingest",
        summary: "append the readings of gateways on an MQTT broker to the log",
        details: """
            All processes of 'ingest' with the same NATS servers share the gateways evenly, by groups of their names,
            also when a process joins, ends or fails. Each process receives all messages, appends the readings of its
            gateways to the log, and continues after the log has acknowledged them. Give the same --tags and --unknown
            to all processes of 'ingest' and 'work'. Run 'indoorloc-fleet setup' once before. With --http, the paths
            /metrics and /api/v1/health report the state of the process.

            example: indoorloc-fleet ingest --broker mqtt://localhost --nats nats://127.0.0.1:4222
            """,
        options: BrokerOptions.options + [
            CommandOption(
                name: "topic", argument: "FILTER[=FORMAT]",
                help: "topics of the gateways, such as minew/office=minewLong (default: the topics of known gateways)")
        ] + NATSServerOptions.options + FleetOptions.registerOptions + [MemberName.option] + MetricsOptions.options
            + CommandOption.log)

    private let broker: MQTTBroker
    private let filters: [GatewayFilter]
    private let servers: NATSServerOptions
    private let fleet: FleetOptions
    private let name: String
    private let metrics: MetricsOptions?

    init(_ arguments: ParsedArguments) throws {
        broker = try BrokerOptions(arguments).broker
        filters =
            try arguments.values["topic"]?.map { text in
                do throws(GatewayFilterError) { return try GatewayFilter(text: text) } catch {
                    throw UsageError(message: "--topic: \(error)", command: arguments.syntax.name)
                }
            } ?? GatewayFilter.standard
        servers = try NATSServerOptions(arguments)
        fleet = try FleetOptions(arguments, hasVenue: false)
        name = MemberName.unique(arguments)
        metrics = try MetricsOptions(arguments)
    }

    func run() async throws {
        let intake = TagIntake(
            register: try fleet.register(), settings: fleet.settings,
            formats: filters.compactMap { filter in
                filter.format.map { TopicFormat(filter: filter.filter, format: $0) }
            })
        try await servers.withConnection(name: name, isPatient: true) { try await ingest($0, intake) }
    }

    private func ingest(_ connection: NATSConnection, _ intake: TagIntake) async throws {
        let log = ProcessLog()
        let partitioning = try await NATSSnapshotStore(connection).partitioning()
        let readings = try await NATSReadingLog(connection, partitioning: partitioning)
        let leases = try await NATSLeaseStore(connection)
        let ingest = FleetIngest(
            input: FleetInput(broker, filters: filters.map(\.filter)) { _ in FleetIngest.now }, intake: intake,
            log: readings, partitioning: partitioning, report: Self.reporter(log))
        let server = try metrics?.start { ingest.families }
        defer { server?.stop() }
        let keeper = LeaseKeeper(
            store: leases, group: .ingest, name: name,
            settings: LeaseMachine.Settings(count: partitioning.gatewayGroups, timeToLive: NATSSetup.leaseTime),
            report: { log.line($0, .notice) }, work: { await ingest.own($0, $1) })
        let requests = EndRequests { keeper.leave() }
        log.line("\(name) shares \(partitioning.gatewayGroups) groups of gateways", .info)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await ingest.run() }
            group.addTask { try await keeper.run() }
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
