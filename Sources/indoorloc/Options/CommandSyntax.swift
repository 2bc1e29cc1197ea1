/// An option of a command.
struct CommandOption: Sendable {
    /// The long name, without its dashes.
    let name: String
    /// The short name; nil without one.
    var short: Character?
    /// What the argument is called in the help; nil for an option without an argument.
    var argument: String?
    /// What it does, in one line.
    let help: String

    static let help = CommandOption(name: "help", short: "h", help: "show this help and exit")
}

/// How a command is called, and what it does.
struct CommandSyntax: Sendable {
    /// The words that call it, such as `venue check`.
    let name: String
    /// What stands behind the options, such as `RECORDING`; empty for nothing.
    var operands = ""
    /// How many operands there may be.
    var operandCount = 0...0
    /// What it does, in one line.
    let summary: String
    /// More, below the options; lines of at most 100 characters.
    var details = ""
    /// Its options, beside `--help`.
    var options: [CommandOption] = []

    /// The first line of the help.
    var usage: String {
        var words = ["usage: indoorloc", name]
        if !options.isEmpty { words.append("[options]") }
        if !operands.isEmpty { words.append(operands) }
        return words.joined(separator: " ")
    }

    /// What `--help` prints.
    var help: String {
        var text = usage + "\n\n" + summary + "\n\noptions:\n"
        let all = options + [.help]
        let heads = all.map { option in
            (option.short.map { "-\($0), " } ?? "    ") + "--" + option.name + (option.argument.map { " \($0)" } ?? "")
        }
        let width = heads.map(\.count).max() ?? 0
        for (head, option) in zip(heads, all) {
            text += "  " + head + String(repeating: " ", count: width - head.count + 2) + option.help + "\n"
        }
        return details.isEmpty ? text : text + "\n" + details + "\n"
    }
}
