import IndoorLocalization
import VenuePackets

/// A command of the tool.
package protocol Command: Sendable {
    /// Its name, options and help.
    static var syntax: CommandSyntax { get }
    /// Reads its arguments.
    ///
    /// - Throws: `UsageError` if an argument is invalid.
    init(_ arguments: ParsedArguments) throws
    /// Runs the command.
    func run() async throws
}

/// An error that describes several problems, one per line.
protocol ErrorOfSeveralLines: Error {}

extension SettingsFailure: ErrorOfSeveralLines {}
extension VenuePacketError: ErrorOfSeveralLines {}
extension GeofenceFileError: ErrorOfSeveralLines {}
extension IMDFError: ErrorOfSeveralLines {}
extension OSMError: ErrorOfSeveralLines {}
extension VenueRepositoryError: ErrorOfSeveralLines {}

/// A failure that the command has already reported on standard output or standard error.
package struct ReportedFailure: Error {
    package init() {}
}

/// An invalid command line.
package struct UsageError: Error {
    let message: String
    /// The name of the command; empty if no command was recognized.
    var command: String

    package init(message: String, command: String) {
        self.message = message
        self.command = command
    }
}

/// A failure of a command, in words for a person.
package struct CommandError: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}
