import IndoorLocalization
import VenuePackets

/// Options that give settings, and what they mean.
extension CommandOption {
    static let settings = CommandOption(
        name: "settings", argument: "FILE", help: "settings in JSON; of several files the later count more")
    static let set = CommandOption(
        name: "set", argument: "KEY=VALUE", help: "one setting, which counts more than any file or venue")
}

extension ParsedArguments {
    /// What the files, then `--method` and then `--set` give.
    ///
    /// - Throws: `UsageError` for a wrong `--set` or `--method`, else `SettingsFailure` with all that is wrong.
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

    /// - Throws: `UsageError` if `--method` and `--set` tell different methods.
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
        let message = "--method \(method) and --set, which makes it \(other.value.summary), contradict each other"
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

    /// JSON's word or number; every other text as it is.
    private static func value(_ text: String) -> JSONValue {
        switch text {
        case "null": .null
        case "true": true
        case "false": false
        default: Double(text).map(JSONValue.number) ?? .string(text)
        }
    }
}

/// Settings that cannot be taken, each with its place.
struct SettingsFailure: Error, CustomStringConvertible {
    let problems: [SettingsProblem]

    /// A line a problem, each as an error of the tool.
    var description: String { problems.map(\.description).joined(separator: "\nindoorloc: ") }
}
