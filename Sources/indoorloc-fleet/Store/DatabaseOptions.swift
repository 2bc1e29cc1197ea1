import IndoorLocalization
import SecretFiles
import TagHistory
import indoorloc

/// The options of the database with the positions of tags, and their values.
struct DatabaseOptions: Sendable {
    /// The options of a command that always has a database.
    static let options = options("address of the database (default: libpq's environment)")
    /// The options of a command that can have a database.
    static let additionalOptions = options("also write the outputs to this database")

    private static func options(_ database: String) -> [CommandOption] {
        [
            CommandOption(name: "database", argument: "DATABASE", help: database),
            CommandOption(name: "password-file", argument: "FILE", help: "file with the password of the database"),
            CommandOption(name: "create", help: "create the tables, or add what is missing"),
            CommandOption(
                name: "keep-days", argument: "N", help: "delete rows of the history after N days (default: never)"),
            CommandOption(
                name: "queue", argument: "N",
                help: "largest number of outputs that wait (default 200000, about 250 bytes each)"),
        ]
    }

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

extension HistoryStore.Event {
    /// Writes a line about a change of the connection, or about refused rows, to the log.
    func log() {
        switch self {
        case .connected: StandardError.line("connected to the database", .info)
        case .disconnected(let error): StandardError.line("\(error); trying again", .warning)
        case .refused(let error): StandardError.line("\(error)", .warning)
        case .ended: break
        }
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
