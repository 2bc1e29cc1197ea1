extension Array {
    /// Returns a description of each setting that is out of range, in the order of the settings: its key, the valid
    /// values and the actual value.
    package func problems<Owner>(in owner: Owner, prefix: String = "") -> [String] where Element == Setting<Owner> {
        compactMap { setting in
            let value = setting.read(owner)
            guard value != .none || !setting.isOptional else { return nil }
            let limits = setting.limits(in: owner)
            guard !limits.contains(value) else { return nil }
            return "\(prefix)\(setting.key) must be \(limits.allowed(unit: setting.unit)), not \(value.found)"
        }
    }
}

extension SettingValue {
    /// The value as text for messages about a range.
    package var found: String {
        switch self {
        case .none: "null"
        case .flag, .number, .duration, .text: json.summary
        }
    }
}

extension LocalizationError {
    /// Creates the critical error for these problems; nil if there are none.
    package init?(settingsProblems problems: [String]) {
        guard !problems.isEmpty else { return nil }
        self.init(
            code: .critical,
            message: "settings out of range: \(problems.joined(separator: "; ")); correct them and start again",
            kind: .settings)
    }
}
