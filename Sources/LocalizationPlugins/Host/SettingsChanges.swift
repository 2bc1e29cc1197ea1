import IndoorVocabulary
import LocalizationSession

/// What plugins want of the settings, until it is applied.
package struct SettingsChanges: Sendable {
    /// One wish.
    package enum Change: Sendable {
        case request(String, JSONValue)
        case override(String, JSONValue?)
    }

    private var changes: [Change] = []

    package init() {}

    /// Takes a wish in, if its key and value are right.
    ///
    /// - Throws: `SettingsProblem` if they are not; then nothing is changed.
    package mutating func add(_ change: Change) throws(SettingsProblem) {
        var trial = SettingsStack()
        try Self.make(change, in: &trial)
        changes.append(change)
    }

    /// Puts all wishes into settings, in their order, and applies them.
    package func make(in settings: inout SettingsStack) {
        for change in changes {
            // Each was tried when it came in: whether one is right does not depend on the others.
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
