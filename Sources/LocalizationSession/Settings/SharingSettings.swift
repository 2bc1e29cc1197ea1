import IndoorVocabulary

/// Settings for sharing positions; nil leaves a value to the program.
public struct SharingSettings: Hashable, Sendable {
    /// The address of the broker, `mqtt[s]://[USER@]HOST[:PORT]`; used by the command line without `--share`.
    public var host: String?
    /// The room that the device joins, in addition to those of a ``PositionSharingPlugin``. The command line uses it
    /// together with `host`.
    public var room: String?
    /// The time between two positions that a ``PositionSharingPlugin`` shares, from 0 s to a day; 0 shares all.
    public var interval: Duration?

    /// Creates settings that leave all values to the program.
    public init() {}
}

extension SharingSettings {
    /// The settings for sharing.
    package static let list: [Setting<SharingSettings>] = [
        text(
            "host", \.host,
            "The address of the broker, `mqtt[s]://[USER@]HOST[:PORT]`; used by the command line without `--share`."),
        text("room", \.room, "The room that the device joins."),
        Setting(
            key: "interval",
            limits: .duration(.zero, isOpen: false, SettingLimits.longest), unit: "s", isOptional: true,
            preference: .smaller, scope: .session,
            summary: "The time between two positions that the device shares; 0 shares all.",
            read: { $0.interval.map(SettingValue.duration) ?? .none },
            write: { settings, value in
                if case .duration(let interval) = value {
                    settings.interval = interval
                } else {
                    settings.interval = nil
                }
            },
            dependentLimits: nil),
    ]

    private static func text(
        _ key: String, _ path: WritableKeyPath<SharingSettings, String?> & Sendable, _ summary: String
    ) -> Setting<SharingSettings> {
        Setting(
            key: key, limits: .text, unit: "", isOptional: true, preference: nil, scope: .session, summary: summary,
            read: { $0[keyPath: path].map(SettingValue.text) ?? .none },
            write: { settings, value in
                if case .text(let text) = value {
                    settings[keyPath: path] = text
                } else {
                    settings[keyPath: path] = nil
                }
            },
            dependentLimits: nil)
    }
}
