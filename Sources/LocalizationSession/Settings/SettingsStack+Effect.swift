import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// A setting that was given on the device but has no effect in a venue.
package struct UselessSetting: Hashable, Sendable {
    /// The key.
    package var key: String
    /// Where it was given, such as `--set`; nil if unknown.
    package var place: String?
    /// The reason in words, to follow "has no effect".
    package var reason: String
}

extension SettingsStack {
    /// Returns the settings of the measurement model that were given on the device but don't change the positions in a
    /// venue.
    package func useless(in venue: Venue) -> [UselessSetting] {
        var there = self
        _ = there.enter(venue.settings)
        let standard = ResolvedSettings()
        let given = there.effective.reduce(into: [String: EffectiveSetting]()) { $0[$1.key] = $1 }
        let model = there.resolved.localization.positioning.signal.inEffect(in: venue)
        return ResolvedSettings.list.compactMap { setting in
            guard setting.key.hasPrefix("positioning.signal."), let effective = given[setting.key],
                effective.source.isOfDevice, setting.read(there.resolved) != setting.read(standard)
            else { return nil }
            var without = there.resolved
            setting.write(&without, setting.read(standard))
            guard without.localization.positioning.signal.inEffect(in: venue) == model else { return nil }
            var used = there.resolved
            used.localization.positioning.signal = model
            let isReplaced = setting.read(used) != setting.read(there.resolved) && venue.radioMap != nil
            let value = isReplaced ? "the radio map gives \(setting.read(used).found)" : Self.unused(in: venue)
            return UselessSetting(
                key: setting.key, place: effective.place, reason: "has no effect in '\(venue.name)': \(value)")
        }
    }

    private static func unused(in venue: Venue) -> String {
        venue.radioMap == nil ? "it has no radio map" : "positions there don't depend on it"
    }
}
