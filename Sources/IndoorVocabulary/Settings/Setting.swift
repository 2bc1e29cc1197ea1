/// One setting of a struct: its key, what it may be, what it does, and how the struct holds it.
package struct Setting<Owner: Sendable>: Sendable {
    /// The dotted key within the owner, as in JSON.
    package let key: String
    /// What it may be, whatever the other settings are.
    package let limits: SettingLimits
    /// The unit of its number; empty without one.
    package let unit: String
    /// Whether it may be unset, which is `null` in JSON.
    package let isOptional: Bool
    /// Which of two values is the better one; nil if neither is.
    package let preference: SettingPreference?
    /// Who may set it.
    package let scope: SettingScope
    /// What it does, in one sentence or two, for the reference page.
    package let summary: String
    /// The value that a struct holds.
    package let read: @Sendable (Owner) -> SettingValue
    /// Puts a value of the right type into a struct.
    package let write: @Sendable (inout Owner, SettingValue) -> Void
    /// What it may be beside the other settings of a struct; nil if they don't matter.
    package let dependentLimits: (@Sendable (Owner) -> SettingLimits)?

    /// Creates a setting from its parts.
    package init(
        key: String, limits: SettingLimits, unit: String, isOptional: Bool, preference: SettingPreference?,
        scope: SettingScope, summary: String, read: @escaping @Sendable (Owner) -> SettingValue,
        write: @escaping @Sendable (inout Owner, SettingValue) -> Void,
        dependentLimits: (@Sendable (Owner) -> SettingLimits)?
    ) {
        self.key = key
        self.limits = limits
        self.unit = unit
        self.isOptional = isOptional
        self.preference = preference
        self.scope = scope
        self.summary = summary
        self.read = read
        self.write = write
        self.dependentLimits = dependentLimits
    }

    /// What it may be beside the other settings of `owner`.
    package func limits(in owner: Owner) -> SettingLimits { dependentLimits?(owner) ?? limits }

    /// The same setting, as one of a struct that holds the owner.
    package func within<Outer>(
        _ prefix: String, _ path: WritableKeyPath<Outer, Owner> & Sendable, _ scope: SettingScope? = nil
    ) -> Setting<Outer> {
        var outerLimits: (@Sendable (Outer) -> SettingLimits)?
        if let dependentLimits { outerLimits = { dependentLimits($0[keyPath: path]) } }
        return Setting<Outer>(
            key: prefix.isEmpty ? key : "\(prefix).\(key)", limits: limits, unit: unit, isOptional: isOptional,
            preference: preference, scope: scope ?? self.scope, summary: summary,
            read: { [read] in read($0[keyPath: path]) },
            write: { [write] in write(&$0[keyPath: path], $1) },
            dependentLimits: outerLimits)
    }

    /// The same setting, as one of a struct that may hold the owner: setting it puts a `standard` one there.
    package func within<Outer>(
        _ prefix: String, optional path: WritableKeyPath<Outer, Owner?> & Sendable, standard: Owner
    ) -> Setting<Outer> {
        var outerLimits: (@Sendable (Outer) -> SettingLimits)?
        if let dependentLimits {
            outerLimits = { [limits] in $0[keyPath: path].map(dependentLimits) ?? limits }
        }
        return Setting<Outer>(
            key: "\(prefix).\(key)", limits: limits, unit: unit, isOptional: true, preference: preference, scope: scope,
            summary: summary,
            read: { [read] in $0[keyPath: path].map(read) ?? .none },
            write: { [write] outer, value in
                guard value != .none else { return outer[keyPath: path] = nil }
                var owner = outer[keyPath: path] ?? standard
                write(&owner, value)
                outer[keyPath: path] = owner
            },
            dependentLimits: outerLimits)
    }
}

/// Which of two values is the better one, when several parts of a program request one.
package enum SettingPreference: Hashable, Sendable {
    case smaller
    case greater
    /// The later in this list, the better; a flag's words are `false` and `true`.
    case later([String])

    /// Whether the first value is at least as good as the second one.
    package func isAsGood(_ value: SettingValue, as other: SettingValue) -> Bool {
        switch (self, value, other) {
        case (_, _, .none): true
        case (_, .none, _): false
        case (.smaller, .number(let first), .number(let second)): first <= second
        case (.smaller, .duration(let first), .duration(let second)): first <= second
        case (.greater, .number(let first), .number(let second)): first >= second
        case (.greater, .duration(let first), .duration(let second)): first >= second
        case (.later(let words), .text(let first), .text(let second)):
            (words.firstIndex(of: first) ?? -1) >= (words.firstIndex(of: second) ?? -1)
        case (.later(let words), .flag(let first), .flag(let second)):
            (words.firstIndex(of: "\(first)") ?? -1) >= (words.firstIndex(of: "\(second)") ?? -1)
        case (.smaller, _, _), (.greater, _, _), (.later, _, _): false
        }
    }

    /// What a request prefers, as the reference page says it.
    package var summary: String {
        switch self {
        case .smaller: "smaller"
        case .greater: "greater"
        case .later(let words): words.last ?? ""
        }
    }
}

/// Who may set a setting.
package enum SettingScope: Hashable, Sendable {
    /// A venue may not: it is of use before a venue is known, or in none.
    case session
    /// Everybody, also a venue for the time within it.
    case venue
}
