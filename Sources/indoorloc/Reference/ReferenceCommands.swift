import Foundation
import VenuePackets

/// The command `completion`: prints a shell completion of the tool.
struct CompletionCommand: Sendable {
    private let shell: CompletionShell

    static func syntax(tool: String) -> CommandSyntax {
        CommandSyntax(
            tool: tool, name: "completion", operands: "SHELL", operandCount: 1...1,
            summary: "print a completion for bash, zsh or fish",
            details: """
                Prints a script that completes commands, options and files. The packages for Debian install it. Without
                them, write it to the folder of your shell:

                    bash: ~/.local/share/bash-completion/completions/\(tool)
                    zsh: a folder of $fpath, as _\(tool)
                    fish: ~/.config/fish/completions/\(tool).fish

                example: \(tool) completion fish > ~/.config/fish/completions/\(tool).fish
                """,
            proposals: .words(of: CompletionShell.self))
    }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        let word = arguments.operands[0]
        guard let shell = CompletionShell(rawValue: word) else {
            let words = CompletionShell.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError(message: "SHELL must be one of \(words), not '\(word)'", command: arguments.syntax.name)
        }
        self.shell = shell
    }

    func run(for tool: ToolDescription) throws { try StandardOutput.write(shell.script(for: tool)) }
}

/// The command `manual`: prints the manual pages of the tool, or writes them to a folder.
struct ManualCommand: Sendable {
    private let words: [String]
    private let folder: String?
    private let date: String
    private let isOverwriting: Bool

    static func syntax(tool: String) -> CommandSyntax {
        CommandSyntax(
            tool: tool, name: "manual", operands: "[COMMAND]", operandCount: 0...2,
            summary: "print the manual page of a command, or write all pages",
            details: """
                Without COMMAND, prints the page of the tool. The pages have the format of man(7). With --folder, writes
                all pages into DIR, as \(tool).1 and \(tool)-COMMAND.1; DIR is created if it doesn't exist. The packages
                for Debian install these pages.

                example: \(tool) manual | man -l -
                """,
            options: [
                CommandOption(name: "folder", argument: "DIR", help: "write all pages into this folder"),
                CommandOption(
                    name: "date", argument: "DATE", help: "date in the footers, as 2026-03-04 (default: none)"),
                .overwrite,
            ])
    }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        words = arguments.operands
        folder = try arguments.folder("folder")
        date = arguments.value("date") ?? ""
        isOverwriting = arguments.has("overwrite")
        guard date.isEmpty || date.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil else {
            throw UsageError(message: "--date must be a date such as 2026-03-04, not '\(date)'", command: "manual")
        }
        if folder != nil, let word = words.first {
            throw UsageError(message: "--folder writes all pages; leave out '\(word)'", command: "manual")
        }
        if folder == nil, isOverwriting {
            throw UsageError(message: "--overwrite requires --folder", command: "manual")
        }
    }

    func run(for tool: ToolDescription) throws {
        let pages = ManualPage(tool: tool, date: date)
        if let folder { return try write(pages, to: folder) }
        guard !words.isEmpty else { return try StandardOutput.write(pages.overview) }
        let name = words.joined(separator: " ")
        guard let command = tool.commands.first(where: { $0.name == name }) else {
            throw UsageError(message: "there is no page of '\(name)'", command: "manual")
        }
        try StandardOutput.write(pages.page(of: command))
    }

    private func write(_ pages: ManualPage, to folder: String) throws {
        let missing = DiskFolder.missing(folder)
        do { try DiskFolder.create(folder, mode: DiskFolder.openMode) } catch {
            throw OutputFile.Failure(path: folder, reason: "can't be created: give another folder")
        }
        let files = pages.files.map { page in
            (file: OutputFile(path: "\(folder)/\(page.name)", existing: isOverwriting ? .replaced : .kept), page.text)
        }
        // An existing page is reported before the first one is written.
        do {
            for (file, _) in files { try file.check() }
            for (file, text) in files { try file.write(Array(text.utf8)) }
        } catch {
            DiskFolder.removeEmpty(missing)
            throw error
        }
    }
}

/// The commands of a tool, for its manual and its shell completions.
struct ToolDescription: Sendable {
    /// The name of the program.
    let name: String
    let version: String
    /// The purpose of the tool, in one line.
    let summary: String
    let commands: [CommandSyntax]

    /// The first words of all commands and groups, each once, in the order of the commands.
    var firstWords: [String] {
        var seen: Set<Substring> = []
        return commands.compactMap { command in
            command.name.split(separator: " ").first.flatMap { seen.insert($0).inserted ? String($0) : nil }
        }
    }

    /// The first words that need a second one, such as `venue`.
    var groups: [String] { firstWords.filter { !members(of: $0).isEmpty } }

    /// The commands of a group, such as those of `venue`.
    func members(of group: String) -> [CommandSyntax] { commands.filter { $0.name.hasPrefix(group + " ") } }

    /// The text beside a first word in a list: the summary of a command, or the commands of a group.
    func summary(of word: String) -> String {
        let members = members(of: word)
        guard members.isEmpty else { return members.map(Self.secondWord).joined(separator: ", ") }
        return commands.first { $0.name == word }?.summary ?? ""
    }

    /// The second word of a command's name, such as `check`.
    static func secondWord(of command: CommandSyntax) -> String {
        command.name.split(separator: " ").dropFirst().joined(separator: " ")
    }

    /// The name of a shell function for this tool.
    var functionName: String { "_" + name.replacing("-", with: "_") }
}
