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
