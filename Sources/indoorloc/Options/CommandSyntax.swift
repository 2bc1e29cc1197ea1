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
    /// The words that a shell proposes as the argument.
    let proposals: ArgumentProposals

    /// Creates an option.
    ///
    /// - Parameter proposals: the words that a shell proposes as the argument; nil for those that the argument's name
    ///   implies.
    package init(
        name: String, short: Character? = nil, argument: String? = nil, help: String,
        proposals: ArgumentProposals? = nil
    ) {
        self.name = name
        self.short = short
        self.argument = argument
        self.help = help
        self.proposals = proposals ?? ArgumentProposals(argument: argument ?? "")
    }

    /// The spellings of the option: the short one first.
    var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + ["--" + name] }

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
    /// The index of the operand that is standard output if it is a dash; nil for none.
    var standardOutputOperand: Int?
    /// The command's effect, in one line.
    let summary: String
    /// The text below the options. Paragraphs are filled, except those that begin with "example:" or have indented
    /// lines.
    var details = ""
    /// The options, without `--help`.
    var options: [CommandOption] = []
    /// The words that a shell proposes as operands.
    let proposals: ArgumentProposals

    /// Creates the syntax of a command of any tool.
    ///
    /// - Parameter proposals: the words that a shell proposes as operands; nil for those that their names imply.
    package init(
        tool: String = "indoorloc", name: String, operands: String = "", operandCount: ClosedRange<Int> = 0...0,
        standardOutputOperand: Int? = nil, summary: String, details: String = "", options: [CommandOption] = [],
        proposals: ArgumentProposals? = nil
    ) {
        self.tool = tool
        self.name = name
        self.operands = operands
        self.operandCount = operandCount
        self.standardOutputOperand = standardOutputOperand
        self.summary = summary
        self.details = details
        self.options = options
        self.proposals = proposals ?? ArgumentProposals(operands: operands)
    }

    /// The first line of the help.
    var usage: String {
        var words = ["usage: \(tool)", name]
        if !options.isEmpty { words.append("[options]") }
        if !operands.isEmpty { words.append(operands) }
        return words.joined(separator: " ")
    }

    /// The options and `--help`.
    var allOptions: [CommandOption] { options + [.help] }

    /// A paragraph of the details.
    struct Paragraph {
        let text: Substring
        /// Whether the lines stay as they are: those of examples, and indented ones.
        var isLaidOut: Bool { isExample || text.contains("\n ") }
        var isExample: Bool { text.hasPrefix("example:") }
    }

    /// The paragraphs of the details.
    var paragraphs: [Paragraph] { details.split(separator: "\n\n").map(Paragraph.init) }

    /// The maximum length of a help line that can be broken.
    private static let columns = 100

    /// The text that `--help` prints.
    var help: String {
        var text = usage + "\n\n" + summary + "\n\noptions:\n"
        let all = allOptions
        let heads = all.map { option in
            (option.short.map { "-\($0), " } ?? "    ") + "--" + option.name + (option.argument.map { " \($0)" } ?? "")
        }
        let width = heads.map(\.count).max() ?? 0
        for (head, option) in zip(heads, all) {
            let head = "  " + head + String(repeating: " ", count: width - head.count + 2)
            text += Self.filled(option.help, behind: head) + "\n"
        }
        for paragraph in paragraphs {
            let body = paragraph.isLaidOut ? String(paragraph.text) : Self.filled(paragraph.text, behind: "")
            text += "\n" + body + "\n"
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
