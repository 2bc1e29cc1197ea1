import IndoorVocabulary

/// The list of all settings, used by range checks, JSON reading, the reference page and `config show`.
package struct SettingsRegistry: Sendable {
    /// A setting and its role.
    package struct Entry: Sendable {
        package let setting: Setting<ResolvedSettings>
        package let role: Role
    }

    /// The effect of setting a value.
    package enum Role: Sendable {
        /// The value is stored in its struct.
        case held
        /// The value sets several other settings, which the same source can still override individually.
        case preset(@Sendable (SettingValue) -> [PresetValue])
        /// The value is accepted and listed but has no effect, with its default value and the reason.
        case kept(SettingValue, reason: String)
    }

    /// One of the values of a preset.
    package struct PresetValue: Sendable {
        package let key: String
        package let value: SettingValue
        /// Settings that conflict with the value. The value doesn't apply if one of them is set.
        package var contraries: [String] = []
    }

    /// A value accepted by the registry.
    package struct Accepted: Hashable, Sendable {
        /// The key of the setting, also if an alias was used.
        package var key: String
        package var value: SettingValue
        /// Whether individual keys in the file take precedence, as for a preset set through an alias of the Nodle SDK.
        package var yieldsToSingleKeys = false
    }

    /// The settings, in the order of the reference page.
    package let entries: [Entry]
    /// The aliases.
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

    /// Returns the setting with a key; nil if there is none.
    package func entry(_ key: String) -> Entry? { indexes[key].map { entries[$0] } }

    /// Returns the alias with a key; nil if there is none.
    package func alias(_ key: String) -> SettingAlias? { aliasIndexes[key].map { aliases[$0] } }

    /// Checks and converts an entry from a source.
    ///
    /// - Throws: `SettingsProblem` if there is no such setting, if the source isn't allowed to set it, or if the value
    ///   is wrong.
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

    /// Returns the most similar valid key; nil if none is similar.
    package func nearestKey(to key: String) -> String? {
        EditDistance.nearestKey(to: key, among: entries.map(\.setting.key) + aliases.map(\.key))
    }
}
