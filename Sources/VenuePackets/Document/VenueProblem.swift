import IndoorVocabulary

/// A problem in a venue packet or in a file of geofences, with its location and remedy.
public struct VenueProblem: Hashable, Sendable, CustomStringConvertible {
    /// The effect of a problem on the packet.
    public enum Severity: String, Hashable, Sendable, CaseIterable {
        /// The packet or file cannot be used.
        case error
        /// The packet or file can be used, but something is probably wrong.
        case warning
        /// The packet or file can be used. A later release may read this part in another way.
        case note
    }

    /// The effect of the problem on the packet or file.
    public var severity: Severity
    /// The path within `venue.json` or the file, such as `$.beacons[3].mapId`; `$` is the whole document.
    public var path: String
    /// The problem and its remedy.
    public var message: String

    /// Creates a problem.
    package init(severity: Severity, path: String, message: String) {
        self.severity = severity
        self.path = path
        self.message = message
    }

    /// The problem in one line; control characters in names and keys are escaped, so that one problem cannot look like
    /// two.
    public var description: String { PrintableText.line("\(severity.rawValue): \(path): \(message)") }
}

extension [VenueProblem] {
    /// The kind of error that a session reports for a packet or catalogue with these problems.
    var kind: LocalizationError.Kind {
        contains { $0.severity == .error && $0.path == "$.formatVersion" } ? .versionMismatch : .badResponse
    }
}

/// An error for a venue packet that cannot be used, with all its problems.
public struct VenuePacketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The folder or file that was read or written.
    public var file: String
    /// All problems, including warnings and notes; at least one is an error.
    public var problems: [VenueProblem]

    /// Creates an error.
    package init(file: String, problems: [VenueProblem]) {
        self.file = file
        self.problems = problems
    }

    /// Creates an error about the whole packet.
    init(file: String, message: String) {
        self.init(file: file, problems: [VenueProblem(severity: .error, path: "$", message: message)])
    }

    /// The file, then one problem per line; one line if the only problem is about the whole packet.
    public var description: String {
        if problems.count == 1, let problem = problems.first, problem.path == "$" {
            return PrintableText.line("\(file): \(problem.message)")
        }
        let errors = problems.filter { $0.severity == .error }
        // The error may be in a radio map that was given in place of the packet's own.
        let isOfRadioMap = !errors.isEmpty && errors.allSatisfy { $0.path == "$.radioMap" }
        let headline =
            isOfRadioMap ? "\(file) cannot be used with this radio map:" : "\(file) is not a usable venue packet:"
        return ([headline] + problems.map { "  \($0)" }).joined(separator: "\n")
    }
}

extension VenuePacketError: ClassifiedError {
    public var kind: LocalizationError.Kind { problems.kind }
}
