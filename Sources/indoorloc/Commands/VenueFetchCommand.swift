import IndoorLocalization
import VenuePackets

/// Fetches venues from a server into a cache.
struct VenueFetchCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue fetch", operands: "ID...", operandCount: 0...Int.max,
        summary: "fetch venues from a server, or tell which it has",
        details: """
            Without ID and --all, prints the venues that the server has. Else fetches those whose stored version is
            older, and prints the folder of each one's packet, which other commands take as --venue. A download that
            was cut short goes on where it ended. The token, or "user:password", is read from the first line of a
            file, as a command line can be seen by others.

            Where the server or a newer version cannot be used, goes on with what is stored: the stored list, or the
            folder of the stored version. Standard error then says why, and "going on with", and the exit status is 0.

            example: indoorloc venue fetch --server https://venues.example.org --cache venues --all
            """,
        options: VenueServerOptions.options + [CommandOption(name: "all", help: "fetch all venues of the server")])

    private let server: VenueServerOptions
    private let ids: [VenueID]
    private let wantsAll: Bool

    init(_ arguments: ParsedArguments) throws {
        server = try VenueServerOptions(arguments, isRequired: true)
        wantsAll = arguments.has("all")
        ids = try arguments.operands.map { text in
            guard let id = Int(text) else {
                throw UsageError(message: "ID must be a whole number, not '\(text)'", command: Self.syntax.name)
            }
            return VenueID(rawValue: id)
        }
        if wantsAll, let first = ids.first {
            throw UsageError(message: "--all and '\(first)' contradict each other", command: Self.syntax.name)
        }
    }

    func run() async throws {
        try await server.withRepository { repository in
            let venues = try await repository.catalogue()
            if ids.isEmpty, !wantsAll {
                return try StandardOutput.write(
                    venues.map { "\($0.id)\t\($0.version)\t\(PrintableText.line($0.name))\n" }.joined())
            }
            for id in wantsAll ? venues.map(\.id) : ids {
                let path = try await server.fetch(id, from: repository)
                try StandardOutput.write(path + "\n")
            }
        }
    }
}
