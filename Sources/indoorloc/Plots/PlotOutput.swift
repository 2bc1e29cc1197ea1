import LocalizationFigures

/// The destination of a figure: the file of `--output`, or standard output.
struct PlotOutput: Sendable {
    /// The options of all commands that draw a figure.
    static let options: [CommandOption] = [
        CommandOption(name: "output", short: "o", argument: "FILE", help: "output file (default: standard output)"),
        .overwrite,
    ]

    private let file: OutputFile?

    /// - Parameter isPrivate: whether the figure shows locations of a person.
    init(_ arguments: ParsedArguments, isPrivate: Bool) {
        file = arguments.outputFile("output", isPrivate: isPrivate)
    }

    /// Checks that the file can be written, before the work.
    func check() throws { try file?.check() }

    /// Writes the document.
    func write(_ figure: Figure) throws {
        guard let file else { return try StandardOutput.write(figure.svg) }
        try file.write(Array(figure.svg.utf8))
    }
}
