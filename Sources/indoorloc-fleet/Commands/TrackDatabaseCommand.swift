import IndoorLocalization
import TagHistory
import TagTracking
import TagTrackingService
import indoorloc

/// The outputs of a fleet on one machine as rows of a database.
private struct DatabaseSink: FleetOutputSink {
    let store: HistoryStore

    func write(_ outputs: [FleetOutput]) async { store.add(outputs) }
}

/// The command `track` with a database: locates tags on one machine, and writes their positions to PostgreSQL.
struct TrackDatabaseCommand: Command {
    static let syntax = TrackCommand.syntaxOfProgram(
        tool: "indoorloc-fleet", adding: DatabaseOptions.additionalOptions,
        notes: """


            --database also writes the outputs to a PostgreSQL database, as 'store' does, without a broker or NATS
            between them. \(DatabaseOptions.details)

            While the database is away, outputs wait in memory; above --queue, the oldest are lost and counted. The
            tracking goes on. The end of the command writes the waiting outputs, within 10 s.
            """,
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
            if let option = DatabaseOptions.additionalOptions.map(\.name).first(where: arguments.has) {
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
                event.log()
                if case .ended(let error?) = event {
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
