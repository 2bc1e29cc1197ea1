import IndoorLocalization
import VenuePackets

/// Writes the folder that a venue server serves.
struct VenuePublishCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue publish", operands: "DIR PACKET...", operandCount: 1...Int.max,
        summary: "add venue packets to the folder that a web server serves",
        details: """
            DIR is created if need be; any web server that serves static files will do. Venues that are there stay,
            and a newer version takes the place of an older one. A packet that cannot be used is refused with all its
            problems, and so is a changed one whose version was not raised; then nothing is published. A venue that is
            withdrawn is no longer listed; its files stay in DIR, and devices that have stored it keep it.

            example: indoorloc venue publish public Fixtures/office
                     indoorloc venue publish public --withdraw 7
            """,
        options: [CommandOption(name: "withdraw", argument: "ID", help: "take venue ID out of the catalogue")])

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
            let message = "--withdraw and '\(packet)' are two things; make two calls"
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
