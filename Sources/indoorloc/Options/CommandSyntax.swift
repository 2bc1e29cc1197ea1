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
    /// More, below the options. Paragraphs are filled, but for those that begin with "example:" or have indented lines.
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

    /// No line of the help is longer where it can be broken.
    private static let columns = 100

    /// What `--help` prints.
    var help: String {
        var text = usage + "\n\n" + summary + "\n\noptions:\n"
        let all = options + [.help]
        let heads = all.map { option in
            (option.short.map { "-\($0), " } ?? "    ") + "--" + option.name + (option.argument.map { " \($0)" } ?? "")
        }
        let width = heads.map(\.count).max() ?? 0
        for (head, option) in zip(heads, all) {
            let head = "  " + head + String(repeating: " ", count: width - head.count + 2)
            text += Self.filled(option.help, behind: head) + "\n"
        }
        for paragraph in details.split(separator: "\n\n") {
            let isLaidOut = paragraph.hasPrefix("example:") || paragraph.contains("\n ")
            text += "\n" + (isLaidOut ? String(paragraph) : Self.filled(paragraph, behind: "")) + "\n"
        }
        return text
    }

    /// The text behind a head, in lines that begin where the first one does.
    private static func filled(_ text: some StringProtocol, behind head: String) -> String {
        var lines: [String] = []
        var line = head
        for word in text.split(whereSeparator: \.isWhitespace) {
            let isFirst = line.count == head.count
            if !isFirst, line.count + 1 + word.count > columns {
                lines.append(line)
                line = String(repeating: " ", count: head.count) + word
            } else {
                line += (isFirst ? "" : " ") + word
            }
        }
        return (lines + [line]).joined(separator: "\n")
    }
}
