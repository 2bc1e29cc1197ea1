import IndoorLocalization
import SecretFiles
import TagHistory
import TagTracking
import TagTrackingService
import indoorloc

/// The options of the database with the positions of tags, and their values.
struct DatabaseOptions: Sendable {
    static let options = [
        CommandOption(
            name: "database", argument: "DATABASE", help: "address of the database (default: libpq's environment)"),
        CommandOption(name: "password-file", argument: "FILE", help: "file with the password of the database"),
        CommandOption(name: "create", help: "create the tables, or add what is missing"),
        CommandOption(
            name: "keep-days", argument: "N", help: "delete rows of the history after N days (default: never)"),
        CommandOption(
            name: "queue", argument: "N",
            help: "largest number of outputs that wait (default 200000, about 250 bytes each)"),
    ]
    /// The explanation in the help.
    static let details = """
        DATABASE is postgresql://[USER@][HOST][:PORT]/NAME, or keywords and values; libpq's environment variables,
        its service file and its password file apply. The password is never part of DATABASE: use PGPASSFILE or
        --password-file. A server on another machine must prove its identity by TLS (sslmode=verify-full), unless
        DATABASE, PGSSLMODE or the service file has another sslmode. sslrootcert=FILE in DATABASE names the
        authorities (PEM) to trust; the default is ~/.postgresql/root.crt.
        """

    private let address: DatabaseAddress
    private let settings: HistoryStore.Settings

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
    }

    /// Starts a store, which connects on its thread.
    func store() -> HistoryStore { HistoryStore(address, settings) }
}

/// The outputs of a fleet on one machine as rows of a database.
private struct DatabaseSink: FleetOutputSink {
    let store: HistoryStore

    func write(_ outputs: [FleetOutput]) async { store.add(outputs) }
}

/// The command `track` with a database: locates tags on one machine, and writes their positions to PostgreSQL.
struct TrackDatabaseCommand: Command {
    static let syntax = TrackCommand.syntaxOfProgram(
        tool: "indoorloc-fleet", adding: DatabaseOptions.options,
        notes: """


            --database also writes the outputs to a PostgreSQL database, as 'store' does, without a broker or NATS
            between them. \(DatabaseOptions.details)

            While the database is away, outputs wait in memory; above --queue, the oldest are lost and counted. The
            tracking goes on. The end of the command writes the waiting outputs, within 10 s.
            """.replacing("\n", with: "\n            "),
        example: """

                     indoorloc-fleet track --broker mqtt://localhost --venue Fixtures/tags/office \\
                         --database postgresql:///positions --create
            """)

    /// The time to write the waiting outputs at the end.
    private static let closingTime = Duration.seconds(10)

    private let command: TrackCommand
    private let database: DatabaseOptions?

    init(_ arguments: ParsedArguments) throws {
        command = try TrackCommand(arguments)
        guard arguments.has("database") else {
            if let option = ["password-file", "create", "keep-days", "queue"].first(where: arguments.has) {
                throw UsageError(message: "--\(option) requires --database", command: arguments.syntax.name)
            }
            database = nil
            return
        }
        database = try DatabaseOptions(arguments)
    }

    func run() async throws {
        guard let store = database?.store() else { return try await command.run() }
        let reporting = Task {
            var lost = 0
            for await event in store.events {
                switch event {
                case .connected: StandardError.line("connected to the database", .info)
                case .disconnected(let error): StandardError.line("\(error); trying again", .warning)
                case .refused(let error): StandardError.line("\(error)", .warning)
                case .ended(let error):
                    guard let error else { break }
                    StandardError.line("--database: \(error); outputs are not stored", .error)
                }
                if store.counts.lost > lost { StandardError.line(store.counts.text(), .warning) }
                lost = store.counts.lost
            }
        }
        let result: Result<Void, any Error>
        do {
            try await command.run(into: [DatabaseSink(store: store)])
            result = .success(())
        } catch { result = .failure(error) }
        await store.stop(within: Self.closingTime)
        reporting.cancel()
        await reporting.value
        StandardError.line(store.counts.text(), store.counts.lost > 0 ? .warning : .info)
        try result.get()
    }
}

extension HistoryStore.Counts {
    /// The counts as a line of the log.
    ///
    /// - Parameter invalid: the number of messages that were no output.
    func text(invalid: Int = 0) -> String {
        var parts = ["\(stored) outputs stored"]
        for (count, name) in [
            (waiting, "waiting"), (lost, "lost"), (refused, "refused by the database"), (invalid, "invalid"),
            (deleted, "rows deleted"),
        ] where count > 0 { parts.append("\(count) \(name)") }
        return parts.joined(separator: ", ")
    }
}
