import CGetOpt
import Glibc
import IndoorLocalization
import VenueExchange
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
extension CompanionError: ErrorOfSeveralLines {}
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

extension CommandError {
    /// Runs file operations; the error has the path, the system's reason and advice.
    static func explaining(_ path: String, _ body: () throws -> Void) throws(CommandError) {
        do { try body() } catch {
            let reason = "cannot be written: \(error.systemReason)"
            throw CommandError(description: "\(path): \(reason). Check the path, its permissions and the free space.")
        }
    }
}

/// An option of a command.
package struct CommandOption: Sendable {
    /// The long name, without its dashes.
    package let name: String
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

/// The words that a shell proposes as an argument of an option, or as an operand.
package enum ArgumentProposals: Hashable, Sendable {
    /// Files and folders.
    case files
    /// Folders only.
    case folders
    /// These words.
    case words([String])
    /// None, because the argument is a number, a name or an address.
    case none

    /// The names of arguments that are paths of files. A venue packet and a data set may also be folders.
    private static let fileNames: Set<String> = [
        "ARCHIVE", "DATASET", "FILE", "INPUT", "OUTPUT", "PACKET", "RECORDING", "ROOMS", "V", "WALK", "WALKS",
    ]
    /// The names of arguments that are paths of folders.
    private static let folderNames: Set<String> = ["DIR", "FOLDER"]

    /// The proposals for an argument with this name in the help.
    init(argument: String) {
        if Self.fileNames.contains(argument) {
            self = .files
        } else {
            self = Self.folderNames.contains(argument) ? .folders : .none
        }
    }

    /// The proposals for operands as the help names them, such as `DIR PACKET...` or `DATASET|RECORDING...`.
    init(operands: String) {
        let names = operands.replacing("...", with: "").split { " |[]".contains($0) }
        let all = names.map { ArgumentProposals(argument: String($0)) }
        self = all.contains(.files) ? .files : all.first ?? .none
    }

    /// The values of an enumeration.
    package static func words<Word: RawRepresentable<String> & CaseIterable>(of type: Word.Type) -> ArgumentProposals {
        .words(Word.allCases.map(\.rawValue))
    }
}

/// The options and operands after the command's name.
package struct ParsedArguments {
    /// The syntax of the command.
    package let syntax: CommandSyntax
    /// The values of each option, in order; an empty string for an option without argument.
    package private(set) var values: [String: [String]] = [:]
    /// The words that are not options.
    package private(set) var operands: [String] = []
    /// Whether `--help` was given; then nothing else is checked.
    var wantsHelp: Bool { values["help"] != nil }

    /// Reads a command line with getopt_long: options and operands in any order, `--` before operands with a dash.
    ///
    /// - Throws: `UsageError` for an unknown option, a missing argument or a wrong number of operands.
    init(_ words: [String], syntax: CommandSyntax) throws(UsageError) {
        self.syntax = syntax
        var failure: UsageError?
        CArguments.with([syntax.tool] + words, options: syntax.allOptions) { count, arguments, names, options in
            cgetopt_reset()
            while failure == nil {
                let item = cgetopt_next(count, arguments, names, options)
                if item.code == -1 {
                    operands = (Int(item.index)..<Int(count)).compactMap { arguments[$0].map { String(cString: $0) } }
                    return
                }
                failure = store(item, arguments)
            }
        }
        if let failure { throw failure }
        guard !wantsHelp else { return }
        try checkOperands()
        try checkStandardInput()
    }

    /// Stores an option; returns an error if getopt rejected it.
    private mutating func store(
        _ item: cgetopt_item, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> UsageError? {
        let all = syntax.allOptions
        guard let offset = CArguments.offset(of: item.code, in: all) else {
            let word = arguments[Int(max(1, item.index - 1))].map { String(cString: $0) } ?? ""
            return UsageError(message: Self.problem(of: item, word: word, in: all), command: syntax.name)
        }
        values[all[offset].name, default: []].append(item.argument.map { String(cString: $0) } ?? "")
        return nil
    }

    /// The message for an option that getopt rejected; `word` is the last word that getopt read.
    private static func problem(of item: cgetopt_item, word: String, in options: [CommandOption]) -> String {
        let short = UInt8(exactly: item.culprit).map { UnicodeScalar($0) }
        if let offset = CArguments.offset(of: item.culprit, in: options) {
            let name = short.map { "-\($0)" } ?? "--" + options[offset].name
            let isMissing = item.code == CArguments.missingArgument
            return isMissing ? "option '\(name)' requires an argument" : "option '\(name)' does not take an argument"
        }
        // In a group such as -xl, getopt has not advanced to the next word yet, so only the letter is known.
        if let short, short.value > 0 { return "unknown option '-\(short)'" }
        let meant = options.map { "--" + $0.name }.filter { $0.hasPrefix(word) }
        if meant.count > 1 { return "option '\(word)' is ambiguous: \(meant.joined(separator: " or "))" }
        return "unknown option '\(word)'"
    }

    private func checkOperands() throws(UsageError) {
        if operands.count < syntax.operandCount.lowerBound {
            let names = syntax.operands.split(separator: " ").map(String.init)
            let name = names[min(operands.count, names.count - 1)]
            let missing = name.hasSuffix("...") ? String(name.dropLast(3)) : name
            throw UsageError(message: "\(missing) is missing", command: syntax.name)
        }
        if operands.count > syntax.operandCount.upperBound {
            let extra = operands[syntax.operandCount.upperBound]
            throw UsageError(message: "unexpected operand '\(extra)'", command: syntax.name)
        }
    }

    /// Returns the arguments with the values of options that were not given.
    func adding(_ defaults: [String: [String]]) -> ParsedArguments {
        var arguments = self
        arguments.values.merge(defaults) { given, _ in given }
        return arguments
    }

    /// Whether an option was given.
    package func has(_ option: String) -> Bool { values[option] != nil }

    /// The last value of an option; nil if it was not given.
    package func value(_ option: String) -> String? { values[option]?.last }

    /// The value of a required option.
    package func required(_ option: String) throws(UsageError) -> String {
        guard let value = value(option) else {
            throw UsageError(message: "--\(option) is missing", command: syntax.name)
        }
        return value
    }

    /// The value of an option, an integer within `range`; `standard` if the option was not given.
    package func number<Number: FixedWidthInteger>(
        _ option: String, in range: ClosedRange<Number>, else standard: Number
    ) throws(UsageError) -> Number {
        guard let text = value(option) else { return standard }
        guard let number = Number(text), range.contains(number) else {
            let allowed = "a whole number from \(range.lowerBound) to \(range.upperBound)"
            throw UsageError(message: "--\(option) must be \(allowed), not '\(text)'", command: syntax.name)
        }
        return number
    }

    /// The value of an option, a number of seconds within `range`; `standard` if the option was not given.
    package func seconds(_ option: String, in range: ClosedRange<Double>, else standard: Double) throws(UsageError)
        -> Double
    {
        guard let text = value(option) else { return standard }
        guard let number = Double(text), range.contains(number) else {
            let bounds = [range.lowerBound, range.upperBound].map { bound in
                Int(exactly: bound).map(String.init) ?? "\(bound)"
            }
            let allowed = "a number of seconds from \(bounds[0]) to \(bounds[1])"
            throw UsageError(message: "--\(option) must be \(allowed), not '\(text)'", command: syntax.name)
        }
        return number
    }
}

/// The command line as C arguments.
private enum CArguments {
    /// The `val` of the first option; the others follow. Larger than every character, so that codes are distinct.
    static let firstCode = 1000
    /// The index of the option with this code, from its long or its short name.
    static func offset(of code: Int32, in options: [CommandOption]) -> Int? {
        if options.indices.contains(Int(code) - firstCode) { return Int(code) - firstCode }
        return options.firstIndex { option in option.short.flatMap(\.asciiValue).map(Int32.init) == code }
    }

    /// The code that getopt_long returns for a missing argument.
    static let missingArgument = Int32(UnicodeScalar(":").value)

    static func with(
        _ words: [String], options: [CommandOption],
        _ body: (
            Int32, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, UnsafePointer<CChar>, UnsafePointer<option>
        ) -> Void
    ) {
        var arguments = words.map { strdup($0) } + [nil]
        let names = options.map { strdup($0.name) }
        defer { (arguments + names).forEach { free($0) } }
        var long = options.indices.map { index in
            option(
                name: names[index], has_arg: options[index].argument == nil ? no_argument : required_argument,
                flag: nil, val: Int32(firstCode + index))
        }
        long.append(option())
        // getopt permutes the array; the set of pointers to free stays the same.
        let count = Int32(words.count)
        arguments.withUnsafeMutableBufferPointer { pointers in
            guard let base = pointers.baseAddress else { return }
            let short = options.map { option in
                option.short.map { "\($0)" + (option.argument == nil ? "" : ":") } ?? ""
            }
            (":" + short.joined()).withCString { names in body(count, base, names, long) }
        }
    }
}
