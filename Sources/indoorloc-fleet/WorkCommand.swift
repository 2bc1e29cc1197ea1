import Foundation
import IndoorLocalization
import MQTTSharing
import NATSLog
import TagTracking
import TagTrackingService
import VenuePackets
import indoorloc

/// The command `work`: locates the tags of the partitions that this process leases.
struct WorkCommand: Command {
    static let syntax = CommandSyntax(
        tool: "indoorloc-fleet", name: "work",
        summary: "locate the tags of a share of the partitions",
        details: """
            All processes of 'work' with the same NATS servers share the partitions evenly, also when a process joins,
            ends or fails. A partition's state is stored each second; its next owner continues from there. Outputs are
            published as JSON under the subject positions.TAG, at least once, with increasing epoch and sequence.

            example: indoorloc-fleet work --nats nats://127.0.0.1:4222 --venue Fixtures/office
            """,
        options: NATSServerOptions.options + [
            .venue, MemberName.option,
            CommandOption(
                name: "outputs", argument: "ADDRESS",
                help: "destination of the outputs: nats, or an MQTT broker; may be repeated (default nats)"),
            CommandOption(
                name: "class", argument: "NAME", help: "class of tags without one: standard or light (default standard)"),
        ] + CommandOption.log)

    private let servers: NATSServerOptions
    private let venuePath: String
    private let name: String
    private let brokers: [MQTTBroker]
    private let publishesToNATS: Bool
    private let settings: FleetSettings

    init(_ arguments: ParsedArguments) throws {
        servers = try NATSServerOptions(arguments)
        venuePath = try arguments.requiredInput("venue")
        name = MemberName.unique(arguments)
        let outputs = arguments.values["outputs"] ?? ["nats"]
        publishesToNATS = outputs.contains("nats")
        var brokers: [MQTTBroker] = []
        for text in outputs where text != "nats" {
            do throws(MQTTSharingError) { brokers.append(try MQTTBroker(address: text)) } catch {
                throw UsageError(message: "--outputs: \(error)", command: arguments.syntax.name)
            }
        }
        self.brokers = brokers
        var settings = FleetSettings()
        settings.defaultClass = arguments.value("class") ?? settings.defaultClass
        guard settings.classes[settings.defaultClass] != nil else {
            let known = settings.classes.keys.sorted().joined(separator: " or ")
            throw UsageError(
                message: "--class must be \(known), not '\(settings.defaultClass)'", command: arguments.syntax.name)
        }
        self.settings = settings
    }

    func run() async throws {
        let venue = try VenuePacketReader().read(venuePath).venue
        guard !venue.receivers.isEmpty else {
            throw CommandError(description: "\(venuePath) has no receivers; give beacons the role 'receiver'")
        }
        let log = ProcessLog()
        let connection = try await servers.open(name: name, isPatient: true)
        defer { connection.close() }
        let snapshots = try await NATSSnapshotStore(connection)
        let partitioning = try await snapshots.partitioning()
        let readings = try await NATSReadingLog(connection, partitioning: partitioning)
        let leases = try await NATSLeaseStore(connection)
        let sinks = try await sinks(connection, log)
        let counters = WorkerCounters()
        let settings = settings
        let worker = PartitionWorker(
            log: readings, snapshots: snapshots, sink: OutputSinks(sinks: sinks), name: name, counters: counters,
            unixTime: { Instant(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e9)) },
            report: { log.line($0, .warning) }
        ) { epoch, snapshot in
            FleetMachine(venue: venue, settings: settings, epoch: epoch)
        }
        let keeper = LeaseKeeper(
            store: leases, group: .work, name: name,
            settings: LeaseMachine.Settings(count: partitioning.partitions, timeToLive: NATSSetup.leaseTime),
            report: { log.line($0, .notice) }, work: { await worker.run(partition: $0, gate: $1) })
        let requests = EndRequests { keeper.leave() }
        log.line("\(name) shares \(partitioning.partitions) partitions", .info)
        try await keeper.run()
        withExtendedLifetime(requests) {}
        for case let sink as MQTTOutputSink in sinks { await sink.stop() }
    }

    private func sinks(_ connection: NATSConnection, _ log: ProcessLog) async throws -> [any FleetOutputSink] {
        var sinks: [any FleetOutputSink] = publishesToNATS ? [NATSOutputSink(connection: connection)] : []
        for broker in brokers {
            var settings = MQTTOutputSettings()
            settings.instance = Partitioning.token(name)
            let sink = try MQTTOutputSink(broker, settings: settings) { log.line("outputs: \($0)", .warning) }
            await sink.start()
            sinks.append(sink)
        }
        return sinks
    }
}
