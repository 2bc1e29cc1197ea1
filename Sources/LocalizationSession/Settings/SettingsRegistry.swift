import IndoorVocabulary

/// The one list of all settings: what range checks, JSON reading, the reference page and `config show` are made from.
package struct SettingsRegistry: Sendable {
    /// A setting, and what giving it does.
    package struct Entry: Sendable {
        package let setting: Setting<ResolvedSettings>
        package let role: Role
    }

    /// What giving a setting does.
    package enum Role: Sendable {
        /// It is put into the struct that holds it.
        case held
        /// It stands for others, which the same source may still give one by one.
        case preset(@Sendable (SettingValue) -> [PresetValue])
        /// It is accepted and shown, and is of no effect; what it is without being given, and why nothing needs it.
        case kept(SettingValue, reason: String)
    }

    /// One of the values that a preset stands for.
    package struct PresetValue: Sendable {
        package let key: String
        package let value: SettingValue
        /// Settings that would be of no effect beside the value: it does not count where one of them is given.
        package var contraries: [String] = []
    }

    /// A value as the registry understands it.
    package struct Accepted: Hashable, Sendable {
        /// The setting's own key, whatever name was used.
        package var key: String
        package var value: SettingValue
        /// Whether single keys of the file count more, as for a preset under its name in the reference.
        package var yieldsToSingleKeys = false
    }

    /// The settings, in the order of the reference page.
    package let entries: [Entry]
    /// Other names.
    package let aliases: [SettingAlias]
    private let indexes: [String: Int]
    private let aliasIndexes: [String: Int]

    /// All settings of the package.
    package static let standard = SettingsRegistry(
        entries: presets + ResolvedSettings.list.map { Entry(setting: $0, role: .held) } + keptSettings,
        aliases: SettingAlias.reference + SettingAlias.earlier)

    package init(entries: [Entry], aliases: [SettingAlias]) {
        self.entries = entries
        self.aliases = aliases
        indexes = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.setting.key, $0) })
        aliasIndexes = Dictionary(uniqueKeysWithValues: aliases.enumerated().map { ($1.key, $0) })
    }

    /// The setting of that key; nil if there is none.
    package func entry(_ key: String) -> Entry? { indexes[key].map { entries[$0] } }

    /// The other name; nil if it is none.
    package func alias(_ key: String) -> SettingAlias? { aliasIndexes[key].map { aliases[$0] } }

    /// Reads what a source gives.
    ///
    /// - Throws: `SettingsProblem` if there is no such setting, or if the source may not give it, or if the value is
    ///   wrong.
    package func accept(_ given: SettingsEntry, from source: SettingsSource) throws(SettingsProblem) -> Accepted {
        func problem(_ reason: SettingsProblem.Reason) -> SettingsProblem {
            SettingsProblem(key: given.key, reason: reason, source: source, place: given.place)
        }
        let alias = alias(given.key)
        guard let entry = entry(alias?.target ?? given.key) else {
            if source != .venue, isKept(given.key) {
                return Accepted(key: given.key, value: SettingValue(kept: given.value))
            }
            throw problem(.unknownKey(nearest: nearestKey(to: given.key)))
        }
        let setting = entry.setting
        guard source != .default, source != .venue || setting.scope == .venue else { throw problem(.notAllowed) }
        if given.value == .null, setting.isOptional { return Accepted(key: setting.key, value: .none) }
        let limits = alias?.limits ?? setting.limits
        let unit = alias?.unit ?? setting.unit
        let allowed = limits.allowed(unit: unit)
        guard let value = limits.value(given.value) else {
            let wanted = limits.isNumber ? "a \(limits.typeName) \(allowed)" : allowed
            throw problem(.wrongType(wanted: wanted, found: given.value.summary))
        }
        guard limits.contains(value) else { throw problem(.outOfRange(allowed: allowed, found: given.value.summary)) }
        return Accepted(
            key: setting.key, value: alias?.toTarget(value) ?? value, yieldsToSingleKeys: alias?.yields ?? false)
    }

    /// The valid key that is most alike; nil if none is alike.
    package func nearestKey(to key: String) -> String? {
        EditDistance.nearestKey(to: key, among: entries.map(\.setting.key) + aliases.map(\.key))
    }
}
