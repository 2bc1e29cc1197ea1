import CGetOpt
import Glibc

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
