/// One setting of a struct: its key, valid values, description and storage.
package struct Setting<Owner: Sendable>: Sendable {
    /// The dotted key within the owner, as written in JSON.
    package let key: String
    /// The valid values, independent of other settings.
    package let limits: SettingLimits
    /// The unit of the number; empty if it has none.
    package let unit: String
    /// Whether the setting may be unset, which is `null` in JSON.
    package let isOptional: Bool
    /// The preference between two values; nil if there is none.
    package let preference: SettingPreference?
    /// The scope in which it can be set.
    package let scope: SettingScope
    /// The effect of the setting, in one or two sentences, for the reference page.
    package let summary: String
    /// Returns the value in a struct.
    package let read: @Sendable (Owner) -> SettingValue
    /// Stores a value of the correct type in a struct.
    package let write: @Sendable (inout Owner, SettingValue) -> Void
    /// Returns the valid values given the other settings of a struct; nil if they have no effect.
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

    /// Returns the valid values given the other settings of `owner`.
    package func limits(in owner: Owner) -> SettingLimits { dependentLimits?(owner) ?? limits }

    /// Returns the same setting as part of a struct that contains the owner.
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

    /// Returns the same setting as part of a struct with an optional owner. Setting a value creates the owner from
    /// `standard`.
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

/// The preference between two values when several parts of a program request one.
package enum SettingPreference: Hashable, Sendable {
    case smaller
    case greater
    /// Later values in this list are preferred; the words of a flag are `false` and `true`.
    case later([String])

    /// Returns whether the first value is at least as good as the second one.
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

    /// The preferred value, as written on the reference page.
    package var summary: String {
        switch self {
        case .smaller: "smaller"
        case .greater: "greater"
        case .later(let words): words.last ?? ""
        }
    }
}

/// The scope in which a setting can be set.
package enum SettingScope: Hashable, Sendable {
    /// The session only, not a venue: the setting applies before a venue is known, or without one.
    case session
    /// The session or a venue. A venue's value applies while the device is in the venue.
    case venue
}
