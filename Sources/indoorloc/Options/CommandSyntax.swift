/// An option of a command.
package struct CommandOption: Sendable {
    /// The long name, without its dashes.
    let name: String
    /// The short name; nil if the option has none.
    var short: Character?
    /// The argument's name in the help; nil for an option without an argument.
    var argument: String?
    /// The option's effect, in one line.
    let help: String

    /// Creates an option.
    package init(name: String, short: Character? = nil, argument: String? = nil, help: String) {
        self.name = name
        self.short = short
        self.argument = argument
        self.help = help
    }

    static let help = CommandOption(name: "help", short: "h", help: "show this help and exit")
}

/// The name, options and help of a command.
package struct CommandSyntax: Sendable {
    /// The name of the program in the help.
    var tool = "indoorloc"
    /// The name, such as `venue check`.
    package let name: String
    /// The operands in the help, such as `RECORDING`; empty for none.
    var operands = ""
    /// The allowed number of operands.
    var operandCount = 0...0
    /// The operand of which a dash is standard output; nil for none.
    var standardOutputOperand: Int?
    /// The command's effect, in one line.
    let summary: String
    /// The text below the options. Paragraphs are filled, except those that begin with "example:" or have indented lines.
    var details = ""
    /// The options, without `--help`.
    var options: [CommandOption] = []

    /// Creates the syntax of a command of any tool.
    package init(
        tool: String = "indoorloc", name: String, operands: String = "", operandCount: ClosedRange<Int> = 0...0,
        standardOutputOperand: Int? = nil, summary: String, details: String = "", options: [CommandOption] = []
    ) {
        self.tool = tool
        self.name = name
        self.operands = operands
        self.operandCount = operandCount
        self.standardOutputOperand = standardOutputOperand
        self.summary = summary
        self.details = details
        self.options = options
    }

    /// The first line of the help.
    var usage: String {
        var words = ["usage: \(tool)", name]
        if !options.isEmpty { words.append("[options]") }
        if !operands.isEmpty { words.append(operands) }
        return words.joined(separator: " ")
    }

    /// The maximum length of a help line that can be broken.
    private static let columns = 100

    /// The text that `--help` prints.
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

    /// The text after a head, with following lines indented to the end of the head.
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
