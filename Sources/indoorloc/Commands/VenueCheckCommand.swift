import VenuePackets

/// Checks a venue packet.
struct VenueCheckCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue check", operands: "V", operandCount: 1...1, summary: "find all problems of a venue packet",
        details: """
            Prints a line a problem: error or warning, the JSON path, what is wrong and what to do. Exit status 1 if
            there is an error; warnings alone are a success. Rooms and points of interest that no path reaches are
            told of where the map has paths.

            example: indoorloc venue check Fixtures/office
            """)

    private let path: String

    init(_ arguments: ParsedArguments) throws { path = try arguments.input(operand: 0) }

    func run() throws {
        let problems = VenuePacketReader().check(path)
        let errors = problems.count { $0.severity == .error }
        var lines = problems.map(\.description)
        let counts = errors.counting("error") + ", " + (problems.count - errors).counting("warning")
        lines.append("\(path): " + (problems.isEmpty ? "no problems" : counts))
        try StandardOutput.write(lines: lines)
        if errors > 0 { throw ReportedFailure() }
    }
}
