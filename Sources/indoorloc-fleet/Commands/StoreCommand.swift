import IndoorLocalization
import MQTTSharing
import NATSLog
import SecretFiles
import TagHistory
import TagTracking
import TagTrackingService
import indoorloc

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

            DATABASE is postgresql://[USER@][HOST][:PORT]/NAME, or keywords and values; libpq's environment variables,
            its service file and its password file apply. The password is never part of DATABASE: use PGPASSFILE or
            --password-file. A server on another machine must prove its identity by TLS (sslmode=verify-full), unless
            DATABASE, PGSSLMODE or the service file has another sslmode. sslrootcert=FILE in DATABASE names the
            authorities (PEM) to trust; the default is ~/.postgresql/root.crt.

            With --nats, outputs wait in the stream while the database or this command is away, for an hour unless
            'setup' has another time. With --broker, they wait in memory while the database is away; above --queue, the
            oldest are lost and counted. SIGTERM and SIGINT write the waiting outputs, within 10 s, and end the command.

            example: indoorloc-fleet store --broker mqtt://localhost --database postgresql:///positions --create
            """,
        options: [
            CommandOption(
                name: "database", argument: "DATABASE", help: "address of the database (default: libpq's environment)"),
            CommandOption(name: "password-file", argument: "FILE", help: "file with the password of the database"),
            CommandOption(name: "create", help: "create the tables, or add what is missing"),
            CommandOption(
                name: "keep-days", argument: "N", help: "delete rows of the history after N days (default: never)"),
            CommandOption(
                name: "queue", argument: "N",
                help: "largest number of outputs that wait (default 200000, about 250 bytes each)"),
            CommandOption(
                name: "prefix", argument: "PREFIX",
                help: "prefix of the fleet's topics (default \(MQTTOutputSettings().prefix))"),
        ] + BrokerOptions.options + NATSServerOptions.options + [.seconds] + CommandOption.log)

    private let address: DatabaseAddress
    private let settings: HistoryStore.Settings
    private let source: any OutputSource
    private let limit: Duration?

    init(_ arguments: ParsedArguments) throws {
        let command = arguments.syntax.name
        let password = try arguments.secretFile("password-file", .password)?.line()
        do throws(HistoryError) {
            address = try DatabaseAddress(arguments.value("database") ?? "postgresql://", password: password)
        } catch {
            throw UsageError(message: "--database: \(error)", command: command)
        }
        var settings = HistoryStore.Settings()
        settings.createsTables = arguments.has("create")
        if arguments.has("keep-days") {
            let days = try arguments.number("keep-days", in: 1...36_500, else: 1)
            settings.retention = .seconds(86_400 * days)
        }
        settings.queueCapacity = try arguments.number(
            "queue", in: settings.batchSize...100_000_000, else: settings.queueCapacity)
        self.settings = settings
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
        let store = HistoryStore(address, settings)
        var service = StoreRun(store)
        try await service.run(limit: limit) { [source] give in
            await source.run(into: store, give)
        }
    }
}
