import IndoorLocalization
import VenuePackets

/// The command `venue check`: lists the problems of a venue packet.
struct VenueCheckCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue check", operands: "V", operandCount: 1...1, summary: "list all problems of a venue packet",
        details: """
            Prints one line per problem: error, warning or note, the JSON path, the problem and advice. The exit status
            is 1 if there is an error; warnings and notes alone are a success. A note names an expert setting, which may
            change or go in any release. If a map has paths, rooms and points of interest that no
            path reaches are listed. Before the last line, the command prints the kinds of names of the packet's beacons with
            their numbers, and the beacons that are also known by their address.

            example: indoorloc venue check Fixtures/office
            """)

    private let path: String

    init(_ arguments: ParsedArguments) throws { path = try arguments.input(operand: 0) }

    func run() throws {
        let (venue, problems) = VenuePacketReader().checked(path)
        let errors = problems.count { $0.severity == .error }
        var lines = problems.map(\.description)
        let notes = problems.count { $0.severity == .note }
        var counts = errors.counting("error") + ", " + (problems.count - errors - notes).counting("warning")
        if notes > 0 { counts += ", " + notes.counting("note") }
        if let text = venue.flatMap(\.beaconNamingText) { lines.append("\(path): \(text)") }
        if let text = venue.flatMap(Self.addresses) { lines.append("\(path): \(text)") }
        lines.append("\(path): " + (problems.isEmpty ? "no problems" : counts))
        try StandardOutput.write(lines: lines)
        if errors > 0 { throw ReportedFailure() }
    }

    /// The beacons that are also known by their address, in words; nil if there are none.
    private static func addresses(of venue: Venue) -> String? {
        let addressed = venue.beacons.filter { $0.address != nil && $0.naming != .address }
        guard !addressed.isEmpty else { return nil }
        let named = addressed.prefix(5).map { beacon in
            "\(beacon.address.map(\.description) ?? "") is \(beacon.name)"
        }
        let rest = addressed.count > 5 ? ", and \(addressed.count - 5) more" : ""
        return "beacons also known by their address: \(addressed.count) of \(venue.beacons.count): "
            + named.joined(separator: ", ") + rest
    }
}
