import IndoorLocalization
import VenuePackets

/// The command `venue fetch`: fetches venues from a server into a cache.
struct VenueFetchCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue fetch", operands: "ID...", operandCount: 0...Int.max,
        summary: "fetch venues from a server, or list them",
        details: """
            Without ID and --all, prints the venues of the server. Otherwise fetches the venues whose stored version is
            older, and prints the folder of each packet, for the option --venue of other commands. An interrupted
            download is resumed. The token or "user:password" is read from the first line of a file, as other users can
            see a command line.

            If the server or a newer version can't be used, uses the stored list or the stored version instead. Standard
            error then has the reason and "going on with", and the exit status is 0. With --all, a venue with errors is
            left out and reported, and the exit status is 1.

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
            throw UsageError(message: "--all can't be combined with '\(first)'", command: Self.syntax.name)
        }
    }

    func run() async throws {
        try await server.withRepository { repository in
            let venues = try await repository.catalogue()
            if ids.isEmpty, !wantsAll {
                return try StandardOutput.write(
                    venues.map { "\($0.id)\t\($0.version)\t\(PrintableText.line($0.name))\n" }.joined())
            }
            guard wantsAll else {
                for id in ids { try StandardOutput.write(try await server.fetch(id, from: repository) + "\n") }
                return
            }
            try await fetchAll(venues.map(\.id), from: repository)
        }
    }

    /// Fetches all venues that can be used, and reports the others.
    private func fetchAll(_ listed: [VenueID], from repository: VenueRepository) async throws {
        var refused = await repository.venuesWithBrokenEntries.subtracting(listed).count
        for id in listed {
            do {
                try StandardOutput.write(try await server.fetch(id, from: repository) + "\n")
            } catch let error as VenueRepositoryError {
                guard case .brokenPacket = error else { throw error }
                StandardError.line("\(server.reportable(error))")
                refused += 1
            }
        }
        guard refused > 0 else { return }
        throw CommandError(
            description: refused == 1
                ? "1 venue of the server was not fetched, as it has errors"
                : "\(refused) venues of the server were not fetched, as they have errors")
    }
}
