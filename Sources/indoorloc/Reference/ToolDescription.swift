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
