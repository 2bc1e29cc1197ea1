import VenuePackets

/// Writes the folder that a venue server serves.
struct VenuePublishCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue publish", operands: "DIR PACKET...", operandCount: 2...Int.max,
        summary: "add venue packets to the folder that a web server serves",
        details: """
            DIR is created if need be; any web server that serves static files will do. Venues that are there stay,
            and a newer version takes the place of an older one. A packet that cannot be used is refused with all its
            problems, and so is a changed one whose version was not raised; then nothing is published.

            example: indoorloc venue publish public Fixtures/office
            """)

    private let folder: String
    private let packets: [String]

    init(_ arguments: ParsedArguments) {
        folder = arguments.operands[0]
        packets = Array(arguments.operands.dropFirst())
    }

    func run() throws {
        let lines = try VenuePublisher(folder: folder).publish(packets).map { venue, change in
            "venue \(venue.id): \(venue.name), version \(venue.version), \(change.rawValue)\n"
        }
        try StandardOutput.write(lines.joined())
    }
}
