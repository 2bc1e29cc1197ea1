import IndoorLocalization
import ScanRecording
import VenuePackets

/// The exit status of the tool.
package enum ExitStatus: Int32 {
    case success = 0
    /// The command failed; standard error has the reason.
    case failure = 1
    /// The command line is invalid.
    case usage = 2
}

/// A command line tool: finds the command, runs it, and turns its errors into an exit status.
package struct CommandLineTool: Sendable {
    /// The version that `--version` prints.
    static let version = PackageVersion.current

    /// The tool `indoorloc`.
    package static let indoorloc = CommandLineTool(
        name: "indoorloc",
        summary: "Locates this device or Bluetooth tags indoors, and records what the radio receives.",
        commands: allCommands)

    private static let allCommands: [any Command.Type] = [
        LocateCommand.self, ServeCommand.self, TrackCommand.self, HistoryVisitsCommand.self, HistoryDwellCommand.self,
        HistoryExportCommand.self, ScanCommand.self, ReplayCommand.self,
        ViewCommand.self, EvaluateCommand.self, SurveyCommand.self, BeaconsCommand.self, PlotTrackCommand.self,
        PlotErrorCommand.self,
        PlotResidualsCommand.self, PlotRangeCommand.self, PlotRadioMapCommand.self, PlotCoverageCommand.self,
        SimulateCommand.self, ConvertCommand.self, BenchCommand.self, VenueCheckCommand.self,
        VenueInfoCommand.self, VenueNewCommand.self, VenueImportCommand.self, VenueEditCommand.self,
        VenueExportCommand.self, VenueRouteCommand.self, VenuePublishCommand.self, VenueFetchCommand.self,
        RoomsTrainCommand.self, RoomsClassifyCommand.self, RoomsEvaluateCommand.self, RoomsWatchCommand.self,
        RegionsWatchCommand.self, ConfigShowCommand.self, ConfigKeysCommand.self, ShareWatchCommand.self,
        ShareForgetCommand.self,
        ShareKeygenCommand.self,
    ]

    /// The name of the program.
    let name: String
    /// The purpose of the tool, in one line.
    let summary: String
    private let commands: [Entry]

    /// A command of the tool.
    private struct Entry: Sendable {
        let syntax: CommandSyntax
        let run: @Sendable (ParsedArguments) async throws -> Void
    }

    /// Creates a tool with these commands, and those that describe the tool: `completion` and `manual`.
    package init(name: String, summary: String, commands: [any Command.Type]) {
        self.name = name
        self.summary = summary
        let own = commands.map { command in Entry(syntax: command.syntax) { try await command.init($0).run() } }
        let (completion, manual) = (CompletionCommand.syntax(tool: name), ManualCommand.syntax(tool: name))
        let description = ToolDescription(
            name: name, version: Self.version, summary: summary, commands: own.map(\.syntax) + [completion, manual])
        self.commands =
            own + [
                Entry(syntax: completion) { try CompletionCommand($0).run(for: description) },
                Entry(syntax: manual) { try ManualCommand($0).run(for: description) },
            ]
    }

    /// A command, and the words after its name.
    private struct Call {
        let command: Entry
        let rest: [String]
    }

    /// Runs the tool with the words after its name.
    package func run(_ words: [String]) async -> ExitStatus {
        var settings = logSettings(of: words)
        settings.tool = name
        return await StandardError.$logSettings.withValue(settings) { await runLogged(words) }
    }

    /// The settings of log lines; the default ones if the command line is invalid, which is reported later.
    private func logSettings(of words: [String]) -> LogSettings {
        guard let call = try? find(words),
            let arguments = try? ParsedArguments(call.rest, syntax: call.command.syntax)
        else { return LogSettings() }
        return (try? arguments.logSettings()) ?? LogSettings()
    }

    private func runLogged(_ words: [String]) async -> ExitStatus {
        do {
            try await runCommand(words)
            return .success
        } catch let error as UsageError {
            let called = error.command.isEmpty ? name : "\(name) \(error.command)"
            StandardError.write("\(called): \(PrintableText.line(error.message))\nTry '\(called) --help'.\n", .error)
            return .usage
        } catch is ReportedFailure {
            return .failure
        } catch {
            let text = text(of: error, in: words)
            guard error is any ErrorOfSeveralLines else {
                StandardError.line(text, .error, Self.fields(of: error))
                return .failure
            }
            StandardError.write("\(name): \(text)\n", .error)
            return .failure
        }
    }

    private static func fields(of error: any Error) -> [LogField] {
        (error as? LocalizationError)?.logFields ?? []
    }

    /// The text of an error, with the option's name in place of a library's advice. For a recording that is a file of
    /// another program, the command that converts it.
    private func text(of error: any Error, in words: [String]) -> String {
        if let error = error as? RecordingError, let file = FileOfAnotherProgram(error) { return file.description }
        let text = "\(error)"
        let options = (try? find(words))?.command.syntax.options ?? []
        guard options.contains(where: { $0.name == CommandOption.lenient.name }) else { return text }
        return text.replacing("read leniently", with: "use --lenient").replacing(
            "Read leniently", with: "Use --lenient")
    }

    private func runCommand(_ words: [String]) async throws {
        switch words.first {
        case nil:
            throw UsageError(message: "a command is missing", command: "")
        case "--help", "-h":
            try StandardOutput.write(help)
        case "help":
            try StandardOutput.write(help(of: Array(words.dropFirst())))
        case "--version":
            try StandardOutput.write("\(name) \(Self.version)\n")
        case let group? where words.count == 2 && ["--help", "-h"].contains(words[1]) && !members(of: group).isEmpty:
            try StandardOutput.write(help(of: [group]))
        default:
            let call = try find(words)
            let arguments = try ParsedArguments(call.rest, syntax: call.command.syntax)
            if arguments.wantsHelp { return try StandardOutput.write(call.command.syntax.help) }
            _ = try arguments.logSettings()
            try await call.command.run(arguments)
        }
    }

    /// Returns the command named by the first words.
    ///
    /// - Throws: `UsageError` if no command has this name.
    private func find(_ words: [String]) throws -> Call {
        for command in commands {
            let name = command.syntax.name.split(separator: " ").map(String.init)
            if words.starts(with: name) { return Call(command: command, rest: Array(words.dropFirst(name.count))) }
        }
        throw UsageError(message: unknownCommand(words), command: "")
    }

    /// The message for an unknown command, with the nearest command name or the commands of the named group.
    private func unknownCommand(_ words: [String]) -> String {
        let first = words.first ?? ""
        let names = commands.map { $0.syntax.name }
        let group = members(of: first).map { $0.syntax.name }
        if !group.isEmpty, words.count == 1 || words[1].hasPrefix("-") {
            let commands = group.map { $0.dropFirst(first.count + 1) }
            let others = commands.dropLast().joined(separator: ", ")
            let list = commands.suffix(1).joined()
            return "'\(first)' requires a command: " + (others.isEmpty ? list : "\(others) or \(list)")
        }
        // Options and operands after the name are not part of it.
        let called = group.isEmpty ? first : words.prefix(2).joined(separator: " ")
        let whole = "unknown command '\(called)'"
        // The first word may be a misspelled group, alone or before a second word.
        let near = group.isEmpty ? names + Set(names.compactMap(Self.groupName)).sorted() : group
        let pair = words.prefix(2).joined(separator: " ")
        let nearest =
            EditDistance.nearestWord(to: pair, among: near.filter { $0.contains(" ") })
            ?? EditDistance.nearestWord(to: called, among: near)
        if let nearest { return whole + "; did you mean '\(nearest)'?" }
        return group.isEmpty ? whole : whole + "; use '\(group.joined(separator: "' or '"))'"
    }

    /// The first word of a command name that has several words, such as `venue`.
    private static func groupName(of command: String) -> String? {
        let words = command.split(separator: " ")
        return words.count > 1 ? words.first.map(String.init) : nil
    }

    /// The commands of a group, such as those of `venue`.
    private func members(of group: String) -> [Entry] {
        commands.filter { $0.syntax.name.hasPrefix(group + " ") }
    }

    /// The help of the tool, or of the command or group that the words name.
    private func help(of words: [String]) throws -> String {
        guard let first = words.first else { return help }
        let group = members(of: first)
        if words.count > 1 || group.isEmpty { return try find(words).command.syntax.help }
        return """
            usage: \(name) \(first) COMMAND [options] [operands]

            commands:
            \(Self.list(of: group))

            """
    }

    private static func list(of commands: [Entry]) -> String {
        let width = commands.map { $0.syntax.name.count }.max() ?? 0
        let lines = commands.map { command in
            let name = command.syntax.name
            return "  " + name + String(repeating: " ", count: width - name.count + 2) + command.syntax.summary
        }
        return lines.joined(separator: "\n")
    }

    private var help: String {
        """
        usage: \(name) COMMAND [options] [operands]

        \(summary)

        commands:
        \(Self.list(of: commands))

        '\(name) COMMAND --help' describes a command. Results are written to standard output,
        errors and progress to standard error. Exit status: 0 success, 1 failure, 2 invalid command line.

        """
    }
}
