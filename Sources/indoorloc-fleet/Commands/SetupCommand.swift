import NATSLog
import TagTracking
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
