import IndoorLocalization
import VenuePackets

/// How the tool ends.
enum ExitStatus: Int32 {
    case success = 0
    /// What was asked for could not be done; standard error says why.
    case failure = 1
    /// The call itself was wrong.
    case usage = 2
}

/// The command line `indoorloc`: finds the command, runs it, and turns what is thrown into an exit status.
enum CommandLineTool {
    /// The version that `--version` prints.
    static let version = PackageVersion.current

    private static let commands: [any Command.Type] = [
        LocateCommand.self, ServeCommand.self, ScanCommand.self, ReplayCommand.self, EvaluateCommand.self,
        SurveyCommand.self,
        SimulateCommand.self, ConvertCommand.self, BenchCommand.self, VenueCheckCommand.self,
        VenueInfoCommand.self, VenueImportCommand.self, VenueExportCommand.self, VenueRouteCommand.self,
        VenuePublishCommand.self, VenueFetchCommand.self, RoomsTrainCommand.self, RoomsClassifyCommand.self,
        RoomsEvaluateCommand.self, RoomsWatchCommand.self, RegionsWatchCommand.self,
        ConfigShowCommand.self, ConfigKeysCommand.self, ShareWatchCommand.self, ShareForgetCommand.self,
    ]

    /// A command, and the words behind its name.
    private struct Call {
        let command: any Command.Type
        let rest: [String]
    }

    /// Runs the tool with the words behind its name.
    static func run(_ words: [String]) async -> ExitStatus {
        do {
            try await runCommand(words)
            return .success
        } catch let error as UsageError {
            let name = error.command.isEmpty ? "indoorloc" : "indoorloc \(error.command)"
            StandardError.write("\(name): \(PrintableText.line(error.message))\nTry '\(name) --help'.\n")
            return .usage
        } catch is ReportedFailure {
            return .failure
        } catch {
            let text = text(of: error, in: words)
            guard error is any ErrorOfSeveralLines else {
                StandardError.line(text)
                return .failure
            }
            StandardError.write("indoorloc: \(text)\n")
            return .failure
        }
    }

    /// What an error says, with the option's name where a library can only say what to do.
    private static func text(of error: any Error, in words: [String]) -> String {
        let text = "\(error)"
        let options = (try? find(words))?.command.syntax.options ?? []
        guard options.contains(where: { $0.name == CommandOption.lenient.name }) else { return text }
        return text.replacing("read leniently", with: "say --lenient").replacing(
            "Read leniently", with: "Say --lenient")
    }

    private static func runCommand(_ words: [String]) async throws {
        switch words.first {
        case nil:
            throw UsageError(message: "a command is missing", command: "")
        case "--help", "-h":
            try StandardOutput.write(help)
        case "help":
            try StandardOutput.write(help(of: Array(words.dropFirst())))
        case "--version":
            try StandardOutput.write("indoorloc \(version)\n")
        case let group? where words.count == 2 && ["--help", "-h"].contains(words[1]) && !members(of: group).isEmpty:
            try StandardOutput.write(help(of: [group]))
        default:
            let call = try find(words)
            let arguments = try ParsedArguments(call.rest, syntax: call.command.syntax)
            if arguments.wantsHelp { return try StandardOutput.write(call.command.syntax.help) }
            try await call.command.init(arguments).run()
        }
    }

    /// The command that the first words name.
    ///
    /// - Throws: `UsageError` if there is none.
    private static func find(_ words: [String]) throws -> Call {
        for command in commands {
            let name = command.syntax.name.split(separator: " ").map(String.init)
            if words.starts(with: name) { return Call(command: command, rest: Array(words.dropFirst(name.count))) }
        }
        throw UsageError(message: unknownCommand(words), command: "")
    }

    /// That there is no such command, with the nearest one, or with those of the group that was named.
    private static func unknownCommand(_ words: [String]) -> String {
        let first = words.first ?? ""
        let names = commands.map { $0.syntax.name }
        let group = members(of: first).map { $0.syntax.name }
        // Options and operands behind the name are no part of it.
        let called = group.isEmpty ? first : words.prefix(2).joined(separator: " ")
        let whole = group.isEmpty ? "there is no command '\(called)'" : "'\(called)' is no command"
        // Of two words the first may be a group that is misspelled; alone it may be one, too.
        let near = group.isEmpty ? names + Set(names.compactMap(groupName)).sorted() : group
        let pair = words.prefix(2).joined(separator: " ")
        let nearest =
            EditDistance.nearestWord(to: pair, among: near.filter { $0.contains(" ") })
            ?? EditDistance.nearestWord(to: called, among: near)
        if let nearest { return whole + "; did you mean '\(nearest)'?" }
        return group.isEmpty ? whole : whole + "; say '\(group.joined(separator: "' or '"))'"
    }

    /// The first word of a command of several: `venue`.
    private static func groupName(of command: String) -> String? {
        let words = command.split(separator: " ")
        return words.count > 1 ? words.first.map(String.init) : nil
    }

    /// The commands whose first word, of several, is this one: those of `venue`.
    private static func members(of group: String) -> [any Command.Type] {
        commands.filter { $0.syntax.name.hasPrefix(group + " ") }
    }

    /// What `help` prints: of the tool if no words follow, else of the command or the group that they name.
    private static func help(of words: [String]) throws -> String {
        guard let first = words.first else { return help }
        let group = members(of: first)
        if words.count > 1 || group.isEmpty { return try find(words).command.syntax.help }
        return """
            usage: indoorloc \(first) COMMAND [options] [operands]

            commands:
            \(list(of: group))

            """
    }

    private static func list(of commands: [any Command.Type]) -> String {
        let width = commands.map { $0.syntax.name.count }.max() ?? 0
        let lines = commands.map { command in
            let name = command.syntax.name
            return "  " + name + String(repeating: " ", count: width - name.count + 2) + command.syntax.summary
        }
        return lines.joined(separator: "\n")
    }

    private static var help: String {
        """
        usage: indoorloc COMMAND [options] [operands]

        Tells from Bluetooth beacons where a device is indoors, and listens to them.

        commands:
        \(list(of: commands))

        'indoorloc COMMAND --help' tells more of a command. Results go to standard output, errors and
        progress to standard error. Exit status: 0 success, 1 failure, 2 wrong call.

        """
    }
}

/// A command of the tool.
protocol Command: Sendable {
    /// How it is called.
    static var syntax: CommandSyntax { get }
    /// Reads its arguments.
    ///
    /// - Throws: `UsageError` if one is wrong.
    init(_ arguments: ParsedArguments) throws
    /// Does it.
    func run() async throws
}

/// An error that tells several problems, a line each; whatever stands in one of them, it stays one line.
protocol ErrorOfSeveralLines: Error {}

extension SettingsFailure: ErrorOfSeveralLines {}
extension VenuePacketError: ErrorOfSeveralLines {}
extension GeofenceFileError: ErrorOfSeveralLines {}
extension IMDFError: ErrorOfSeveralLines {}
extension VenueRepositoryError: ErrorOfSeveralLines {}

/// A failure that has been told on standard output or standard error already.
struct ReportedFailure: Error {}
