import IndoorLocalization
import VenuePackets

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
    }
}
