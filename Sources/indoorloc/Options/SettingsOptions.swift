import IndoorLocalization
import VenuePackets

/// Options that give settings, and their values.
extension CommandOption {
    static let settings = CommandOption(
        name: "settings", argument: "FILE", help: "settings file (JSON); a later file overrides earlier ones")
    static let set = CommandOption(
        name: "set", argument: "KEY=VALUE", help: "one setting; overrides files and venues")
}

extension ParsedArguments {
    /// The settings of the files, then of `--method`, then of `--set`.
    ///
    /// - Throws: `UsageError` for an invalid `--set` or `--method`, otherwise `SettingsFailure` with all problems.
    func settings() throws -> SettingsStack {
        var stack = SettingsStack()
        var entries: [SettingsEntry] = []
        var problems: [SettingsProblem] = []
        for word in values["settings"] ?? [] {
            let file = try SettingsFile(path: InputFile.keeping(word))
            entries += file.entries
            problems += file.problems
        }
        problems += stack.load(entries, from: .file)
        guard problems.isEmpty else { throw SettingsFailure(problems: problems) }
        if let method = value("method") { try set("positioning.method", .string(method), "--method", in: &stack) }
        for word in values["set"] ?? [] {
            guard let separator = word.firstIndex(of: "="), separator != word.startIndex else {
                throw UsageError(message: "--set must be KEY=VALUE, not '\(word)'", command: syntax.name)
            }
            let value = Self.value(String(word[word.index(after: separator)...]))
            try set(String(word[..<separator]), value, "--set", in: &stack)
        }
        stack.apply()
        try checkMethod()
        let contradictions = stack.problems
        if let problem = contradictions.first(where: { $0.source == .override }) {
            throw UsageError(message: "\(problem.place ?? "--set"): \(problem.message)", command: syntax.name)
        }
        guard contradictions.isEmpty else { throw SettingsFailure(problems: contradictions) }
        return stack
    }

    /// Notes on standard error each expert setting of the settings files. An invalid setting is left to the command,
    /// which reports it.
    func noteExpertSettings() {
        guard has("settings"), let stack = try? settings() else { return }
        stack.noteExpertSettings()
    }

    /// - Throws: `UsageError` if `--method` and `--set` give different methods.
    private func checkMethod() throws {
        guard let method = value("method") else { return }
        var stack = SettingsStack()
        for word in values["set"] ?? [] {
            guard let separator = word.firstIndex(of: "=") else { continue }
            try stack.override(String(word[..<separator]), Self.value(String(word[word.index(after: separator)...])))
        }
        stack.apply()
        let other = try stack.setting("positioning.method")
        guard other.source == .override, other.value != .string(method) else { return }
        let message = "--method \(method) contradicts --set, which gives the method \(other.value.summary)"
        throw UsageError(message: message, command: syntax.name)
    }

    private func set(
        _ key: String, _ value: JSONValue, _ option: String, in stack: inout SettingsStack
    ) throws(UsageError) {
        do { try stack.override(key, value, place: option) } catch {
            guard option == "--set" else {
                let all = PositioningMethod.allCases.map(\.rawValue).joined(separator: ", ")
                let name = self.value("method") ?? ""
                throw UsageError(message: "\(option) must be one of \(all), not '\(name)'", command: syntax.name)
            }
            throw UsageError(message: "\(option): \(error.message)", command: syntax.name)
        }
    }

    /// The text as a JSON null, Boolean or number, otherwise as a string.
    private static func value(_ text: String) -> JSONValue {
        switch text {
        case "null": .null
        case "true": true
        case "false": false
        default: Double(text).map(JSONValue.number) ?? .string(text)
        }
    }
}

/// The problems of invalid settings, each with its place.
struct SettingsFailure: Error, CustomStringConvertible {
    let problems: [SettingsProblem]

    /// One problem per line, each with the tool's name.
    var description: String { problems.map(\.description).joined(separator: "\nindoorloc: ") }
}
