import TextFormats

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
    /// Whether the setting stays as it is in later releases.
    package private(set) var stability = SettingStability.stable
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

    /// Returns the same setting as an expert setting, whose default has this origin.
    package func expert(_ origin: DefaultOrigin) -> Setting {
        var setting = self
        setting.stability = .expert(origin)
        return setting
    }

    /// Returns the same setting as part of a struct that contains the owner.
    package func within<Outer>(
        _ prefix: String, _ path: WritableKeyPath<Outer, Owner> & Sendable, _ scope: SettingScope? = nil
    ) -> Setting<Outer> {
        var outerLimits: (@Sendable (Outer) -> SettingLimits)?
        if let dependentLimits { outerLimits = { dependentLimits($0[keyPath: path]) } }
        var outer = Setting<Outer>(
            key: prefix.isEmpty ? key : "\(prefix).\(key)", limits: limits, unit: unit, isOptional: isOptional,
            preference: preference, scope: scope ?? self.scope, summary: summary,
            read: { [read] in read($0[keyPath: path]) },
            write: { [write] in write(&$0[keyPath: path], $1) },
            dependentLimits: outerLimits)
        outer.stability = stability
        return outer
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
        var outer = Setting<Outer>(
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
        outer.stability = stability
        return outer
    }
}

/// The preference between two values when several parts of a program request one.
package enum SettingPreference: Hashable, Sendable {
    case smaller
    case greater
    /// Later values in this list are preferred; the words of a flag are `false` and `true`.
    case later([String])

    /// Returns whether the first value is equal or preferred to the second one.
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

// Factory methods for each kind of setting. Each takes the key path of the property that stores the value.
extension Setting {
    package static func flag(
        _ key: String, _ path: WritableKeyPath<Owner, Bool> & Sendable, better: Bool? = nil,
        scope: SettingScope = .session, _ summary: String
    ) -> Setting {
        Setting(
            key: key, limits: .flag, unit: "", isOptional: false,
            preference: better.map { .later(["\(!$0)", "\($0)"]) }, scope: scope, summary: summary,
            read: { .flag($0[keyPath: path]) },
            write: { if case .flag(let flag) = $1 { $0[keyPath: path] = flag } }, dependentLimits: nil)
    }

    package static func wholeNumber(
        _ key: String, _ path: WritableKeyPath<Owner, Int> & Sendable, in range: ClosedRange<Int>,
        better: SettingPreference? = nil, scope: SettingScope = .session, _ summary: String
    ) -> Setting {
        Setting(
            key: key, limits: .wholeNumber(range), unit: "", isOptional: false, preference: better, scope: scope,
            summary: summary,
            read: { .number(Double($0[keyPath: path])) },
            write: { if case .number(let number) = $1, let whole = Int(exactly: number) { $0[keyPath: path] = whole } },
            dependentLimits: nil)
    }

    package static func number(
        _ key: String, _ path: WritableKeyPath<Owner, Double> & Sendable, in range: ClosedRange<Double>,
        unit: String = "", better: SettingPreference? = nil, scope: SettingScope = .session, _ summary: String,
        beside: (@Sendable (Owner) -> ClosedRange<Double>)? = nil
    ) -> Setting {
        var dependentLimits: (@Sendable (Owner) -> SettingLimits)?
        if let beside { dependentLimits = { .number(beside($0)) } }
        return Setting(
            key: key, limits: .number(range), unit: unit, isOptional: false, preference: better, scope: scope,
            summary: summary,
            read: { .number($0[keyPath: path]) },
            write: { if case .number(let number) = $1 { $0[keyPath: path] = number } },
            dependentLimits: dependentLimits)
    }

    /// Returns a setting for a duration of at least `least`.
    package static func duration(
        _ key: String, _ path: WritableKeyPath<Owner, Duration> & Sendable, from least: Duration,
        to most: Duration = SettingLimits.longest, better: SettingPreference? = nil, scope: SettingScope = .session,
        _ summary: String, beside: (@Sendable (Owner) -> ClosedRange<Duration>)? = nil
    ) -> Setting {
        var dependentLimits: (@Sendable (Owner) -> SettingLimits)?
        if let beside {
            dependentLimits = { .duration(beside($0).lowerBound, isOpen: false, beside($0).upperBound) }
        }
        return duration(
            key, path, .duration(least, isOpen: false, most), better, scope, summary, dependentLimits)
    }

    /// Returns a setting for a duration longer than `bound`.
    package static func duration(
        _ key: String, _ path: WritableKeyPath<Owner, Duration> & Sendable, above bound: Duration,
        better: SettingPreference? = nil, scope: SettingScope = .session, _ summary: String
    ) -> Setting {
        duration(key, path, .duration(bound, isOpen: true, SettingLimits.longest), better, scope, summary, nil)
    }

    private static func duration(
        _ key: String, _ path: WritableKeyPath<Owner, Duration> & Sendable, _ limits: SettingLimits,
        _ preference: SettingPreference?, _ scope: SettingScope, _ summary: String,
        _ dependentLimits: (@Sendable (Owner) -> SettingLimits)?
    ) -> Setting {
        Setting(
            key: key, limits: limits, unit: "s", isOptional: false, preference: preference, scope: scope,
            summary: summary,
            read: { .duration($0[keyPath: path]) },
            write: { if case .duration(let duration) = $1 { $0[keyPath: path] = duration } },
            dependentLimits: dependentLimits)
    }

    /// Returns a setting for the cases of an enumeration. With `fromWorst`, later cases are preferred.
    package static func choice<Choice: CaseIterable & RawRepresentable<String> & SendableMetatype>(
        _ key: String, _ path: WritableKeyPath<Owner, Choice> & Sendable, fromWorst order: [Choice]? = nil,
        scope: SettingScope = .session, _ summary: String
    ) -> Setting {
        Setting(
            key: key, limits: .choice(Choice.allCases.map(\.rawValue)), unit: "", isOptional: false,
            preference: order.map { .later($0.map(\.rawValue)) }, scope: scope, summary: summary,
            read: { .text($0[keyPath: path].rawValue) },
            write: { if case .text(let word) = $1, let choice = Choice(rawValue: word) { $0[keyPath: path] = choice } },
            dependentLimits: nil)
    }
}

/// The valid values of a setting: its type and range.
package enum SettingLimits: Hashable, Sendable {
    case flag
    case wholeNumber(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    /// From the first to the second duration; excludes the first if `isOpen`.
    case duration(Duration, isOpen: Bool, Duration)
    case choice([String])
    case text

    /// The maximum duration. Longer values indicate a wrong unit.
    package static let longest = Duration.seconds(86_400)

    /// The name of the type, as written on the reference page.
    package var typeName: String {
        switch self {
        case .flag: "true or false"
        case .wholeNumber: "whole number"
        case .number, .duration: "number"
        case .choice, .text: "text"
        }
    }

    /// The range for error messages, such as `in [0, 1]` or `above 0 and at most 86400`; nil for types without a range.
    private var range: String? {
        func text(_ number: Double) -> String { JSONValue.number(number).summary }
        switch self {
        case .flag, .text: return nil
        case .choice(let words): return "one of \(words.joined(separator: ", "))"
        case .wholeNumber(let range): return "in [\(range.lowerBound), \(range.upperBound)]"
        case .number(let range): return "in [\(text(range.lowerBound)), \(text(range.upperBound))]"
        case .duration(let least, let isOpen, let most):
            let (first, last) = (text(least.decimalSeconds), text(most.decimalSeconds))
            return isOpen ? "above \(first) and at most \(last)" : "in [\(first), \(last)]"
        }
    }

    /// The range for the reference page, such as `0 … 1` or `above 0, to 86400`; nil for types without a range.
    package var shortRange: String? {
        func text(_ number: Double) -> String { JSONValue.number(number).summary }
        switch self {
        case .flag, .text: return nil
        case .choice(let words): return words.joined(separator: ", ")
        case .wholeNumber(let range): return "\(range.lowerBound) … \(range.upperBound)"
        case .number(let range): return "\(text(range.lowerBound)) … \(text(range.upperBound))"
        case .duration(let least, let isOpen, let most):
            let (first, last) = (text(least.decimalSeconds), text(most.decimalSeconds))
            return isOpen ? "above \(first), to \(last)" : "\(first) … \(last)"
        }
    }

    /// Whether the value is a number.
    package var isNumber: Bool {
        switch self {
        case .wholeNumber, .number, .duration: true
        case .flag, .choice, .text: false
        }
    }

    /// Returns whether a value has the correct type and is in range. NaN is never in range.
    package func contains(_ value: SettingValue) -> Bool {
        switch (self, value) {
        case (.flag, .flag), (.text, .text): true
        case (.wholeNumber(let range), .number(let number)):
            Double(range.lowerBound) <= number && number <= Double(range.upperBound)
        case (.number(let range), .number(let number)): range.contains(number)
        case (.duration(let least, let isOpen, let most), .duration(let duration)):
            (isOpen ? duration > least : duration >= least) && duration <= most
        case (.choice(let words), .text(let word)): words.contains(word)
        case (.flag, _), (.wholeNumber, _), (.number, _), (.duration, _), (.choice, _), (.text, _): false
        }
    }

    /// Returns the setting's value for a JSON value, regardless of the range; nil if the type differs.
    package func value(_ json: JSONValue) -> SettingValue? {
        switch (self, json) {
        case (.flag, .bool(let flag)): .flag(flag)
        case (.wholeNumber, .number(let number)): Int(exactly: number) == nil ? nil : .number(number)
        case (.number, .number(let number)): .number(number)
        case (.duration, .number(let seconds)):
            // Values beyond this limit are outside every range, so clamping doesn't change the result of the check.
            seconds.isNaN ? nil : .duration(.nanoseconds(Int64((min(max(seconds, -1e8), 1e8) * 1e9).rounded())))
        case (.choice, .string(let word)), (.text, .string(let word)): .text(word)
        case (.flag, _), (.wholeNumber, _), (.number, _), (.duration, _), (.choice, _), (.text, _): nil
        }
    }

    /// Returns the valid values as text that follows "must be".
    package func allowed(unit: String) -> String {
        switch self {
        case .flag: "true or false"
        case .text: "a text"
        case .choice, .wholeNumber, .number, .duration: (range ?? "") + (unit.isEmpty ? "" : " " + unit)
        }
    }
}

/// The value of one setting, an intermediate form between JSON and the typed structs.
package enum SettingValue: Hashable, Sendable {
    /// No value, for an optional setting that isn't set.
    case none
    case flag(Bool)
    /// A number, including whole numbers.
    case number(Double)
    case duration(Duration)
    case text(String)

    /// The value as JSON, with durations in seconds.
    package var json: JSONValue {
        switch self {
        case .none: .null
        case .flag(let flag): .bool(flag)
        case .number(let number): .number(number)
        case .duration(let duration): .number(duration.decimalSeconds)
        case .text(let text): .string(text)
        }
    }
}

extension JSONValue {
    /// A short form of the value for messages and tables, as written in JSON.
    package var summary: String {
        switch self {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .number(let number): ShortestNumber.digits(number)
        case .string(let text): "\"\(text.prefix(40))\(text.count > 40 ? "…" : "")\""
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension Duration {
    /// The duration in seconds, converted from nanoseconds so that 30 ms is exactly the number 0.03.
    var decimalSeconds: Double { Double(nanoseconds) / 1e9 }
}

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
