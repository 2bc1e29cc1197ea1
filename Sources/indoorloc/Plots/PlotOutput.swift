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
    /// - Throws: if the file name's extension is that of a format other than SVG.
    init(_ arguments: ParsedArguments, isPrivate: Bool) throws(UsageError) {
        file = try Self.file(arguments, isPrivate: isPrivate)
    }

    /// The file of `--output`; nil if the option was not given.
    ///
    /// - Throws: if the file name's extension is that of a format other than SVG.
    static func file(_ arguments: ParsedArguments, isPrivate: Bool) throws(UsageError) -> OutputFile? {
        guard let file = arguments.outputFile("output", isPrivate: isPrivate) else { return nil }
        let words = file.path.split(separator: "/").last?.split(separator: ".", omittingEmptySubsequences: false)
        if let ending = words?.dropFirst().last, otherFormats.contains(ending.lowercased()) {
            throw UsageError(
                message: "--output: the figure is an SVG document; name it .svg, not '.\(ending)'",
                command: arguments.syntax.name)
        }
        return file
    }

    private static let otherFormats: Set = [
        "png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "pdf", "ps", "eps", "html", "htm", "json", "csv",
    ]

    /// Checks that the file can be written, before the work.
    func check() throws { try file?.check() }

    /// Writes the document.
    func write(_ figure: Figure) throws {
        guard let file else { return try StandardOutput.write(figure.svg) }
        try file.write(Array(figure.svg.utf8))
    }
}
