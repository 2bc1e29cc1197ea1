import IndoorVocabulary
import LocalizationSession

/// The changes of settings that plugins have requested, until the host applies them.
package struct SettingsChanges: Sendable {
    /// One change.
    package enum Change: Sendable {
        case request(String, JSONValue)
        case override(String, JSONValue?)
    }

    private var changes: [Change] = []

    package init() {}

    /// Adds a change if its key and value are valid.
    ///
    /// - Throws: `SettingsProblem` if they are not; then nothing changes.
    package mutating func add(_ change: Change) throws(SettingsProblem) {
        var trial = SettingsStack()
        try Self.make(change, in: &trial)
        changes.append(change)
    }

    /// Makes all changes in settings, in their order.
    package func make(in settings: inout SettingsStack) {
        for change in changes {
            // Each change was validated when it was added, and its validity doesn't depend on the others.
            try? Self.make(change, in: &settings)
        }
        settings.apply()
    }

    private static func make(_ change: Change, in settings: inout SettingsStack) throws(SettingsProblem) {
        switch change {
        case .request(let key, let value): try settings.request(key, value)
        case .override(let key, let value): try settings.override(key, value, place: "a plugin")
        }
    }
}
