import IndoorVocabulary

/// Something wrong in a venue packet or a file of geofences, where it is and what to do about it.
public struct VenueProblem: Hashable, Sendable, CustomStringConvertible {
    /// What a problem means for the packet.
    public enum Severity: String, Hashable, Sendable, CaseIterable {
        /// The packet or the file cannot be used.
        case error
        /// It can be used, but something looks wrong.
        case warning
    }

    /// What the problem means for the packet or the file.
    public var severity: Severity
    /// Where it is within `venue.json` or the file, such as `$.beacons[3].mapId`; `$` is the document as a whole.
    public var path: String
    /// What is wrong and what to do.
    public var message: String

    /// Creates a problem.
    public init(severity: Severity, path: String, message: String) {
        self.severity = severity
        self.path = path
        self.message = message
    }

    /// The problem in one line: what a packet has in a name or a key is escaped, so that it cannot pass for another one.
    public var description: String { PrintableText.line("\(severity.rawValue): \(path): \(message)") }
}

extension [VenueProblem] {
    /// What a packet or catalogue with these problems is to a session.
    var kind: LocalizationError.Kind {
        contains { $0.severity == .error && $0.path == "$.formatVersion" } ? .versionMismatch : .badResponse
    }
}

/// A venue packet that cannot be used, with all that is wrong with it.
public struct VenuePacketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The folder or file that was read or written.
    public var file: String
    /// All problems found, warnings included; at least one is an error.
    public var problems: [VenueProblem]

    /// Creates an error.
    public init(file: String, problems: [VenueProblem]) {
        self.file = file
        self.problems = problems
    }

    /// An error about the packet as a whole.
    init(file: String, message: String) {
        self.init(file: file, problems: [VenueProblem(severity: .error, path: "$", message: message)])
    }

    /// The file, then a problem a line; all in one line if the packet as a whole is the problem.
    public var description: String {
        if problems.count == 1, let problem = problems.first, problem.path == "$" {
            return PrintableText.line("\(file): \(problem.message)")
        }
        let errors = problems.filter { $0.severity == .error }
        // Also a map that was given beside the packet, which is then not to blame.
        let isOfRadioMap = !errors.isEmpty && errors.allSatisfy { $0.path == "$.radioMap" }
        let headline =
            isOfRadioMap ? "\(file) cannot be used with this radio map:" : "\(file) is not a usable venue packet:"
        return ([headline] + problems.map { "  \($0)" }).joined(separator: "\n")
    }
}

extension VenuePacketError: ClassifiedError {
    public var kind: LocalizationError.Kind { problems.kind }
}
