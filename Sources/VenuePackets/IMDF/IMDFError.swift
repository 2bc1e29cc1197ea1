/// Something wrong in an archive of the Indoor Mapping Data Format.
public struct IMDFProblem: Hashable, Sendable, CustomStringConvertible {
    /// The file within the archive, such as `unit.geojson`; empty for the archive as a whole.
    public var file: String
    /// Where it is within the file, such as `$.features[3].properties.level_id`; `$` is the file as a whole.
    public var path: String
    /// What is wrong and what to do.
    public var message: String

    /// Creates a problem.
    public init(file: String, path: String, message: String) {
        self.file = file
        self.path = path
        self.message = message
    }

    public var description: String { PrintableText.line(file.isEmpty ? message : "\(file): \(path): \(message)") }
}

/// An archive that cannot be imported, with all that is wrong with it.
public struct IMDFError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The folder or zip that was read.
    public var archive: String
    /// All problems found; at least one.
    public var problems: [IMDFProblem]

    /// Creates an error.
    public init(archive: String, problems: [IMDFProblem]) {
        self.archive = archive
        self.problems = problems
    }

    /// The archive, then a problem a line.
    public var description: String {
        (["\(archive) is not a usable IMDF archive:"] + problems.map { "  \($0)" }).joined(separator: "\n")
    }
}
