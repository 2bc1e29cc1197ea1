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

/// The command `venue publish`: adds venue packets to the folder of a venue server.
struct VenuePublishCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue publish", operands: "DIR PACKET...", operandCount: 1...Int.max,
        summary: "add venue packets to the folder that a web server serves",
        details: """
            DIR is created if it doesn't exist. Any web server for static files can serve it. Existing venues stay, and a
            newer version replaces an older one. An invalid packet is rejected with all its problems, and so is a
            changed packet whose version was not increased; then nothing is published. A withdrawn venue is no longer
            listed; its files stay in DIR, and devices that have stored it keep it.

            example: indoorloc venue publish public Fixtures/office
                     indoorloc venue publish public --withdraw 7
            """,
        options: [CommandOption(name: "withdraw", argument: "ID", help: "remove venue ID from the catalogue")])

    private let folder: String
    private let packets: [String]
    private let withdrawn: VenueID?

    init(_ arguments: ParsedArguments) throws {
        folder = arguments.operands[0]
        packets = try arguments.operands.dropFirst().map(InputFile.keeping)
        withdrawn =
            arguments.has("withdraw")
            ? VenueID(rawValue: try arguments.number("withdraw", in: Int.min...Int.max, else: 0)) : nil
        if withdrawn == nil, packets.isEmpty {
            throw UsageError(message: "PACKET is missing", command: Self.syntax.name)
        }
        if withdrawn != nil, let packet = packets.first {
            let message = "--withdraw can't be combined with '\(packet)'; run two commands"
            throw UsageError(message: message, command: Self.syntax.name)
        }
    }

    func run() throws {
        let publisher = VenuePublisher(folder: folder)
        if let withdrawn {
            try publisher.withdraw([withdrawn])
            return try StandardOutput.write("venue \(withdrawn): withdrawn\n")
        }
        let lines = try publisher.publish(packets).map { venue, change in
            "venue \(venue.id): \(venue.name), version \(venue.version), \(change.rawValue)"
        }
        try StandardOutput.write(lines: lines)
        if let shared = SharedBeacons(among: try publisher.summaries()) { StandardError.line("\(shared)", .warning) }
        for packet in packets {
            guard let name = VenuePacketReader().unusedRadioMaps(packet).first else { continue }
            StandardError.line(
                "\(packet): \(name) is a radio map, but venue.json doesn't refer to it, so devices don't use it; add "
                    + "\"radioMap\": \"\(name)\", or choose it in 'indoorloc venue edit'", .warning)
        }
    }
}
