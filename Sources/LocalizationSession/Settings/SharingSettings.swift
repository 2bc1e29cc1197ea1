import IndoorVocabulary

/// What settings say of sharing; nil leaves it to the program.
public struct SharingSettings: Hashable, Sendable {
    /// Where the broker is, as `mqtt[s]://[USER@]HOST[:PORT]`: of the command line, where no `--share` is given.
    public var host: String?
    /// The room to be in: beside those of a ``PositionSharingPlugin``, and of the command line together with `host`.
    public var room: String?
    /// Time between two positions that a ``PositionSharingPlugin`` hands over, from 0 s to a day; 0 hands over all.
    public var interval: Duration?

    /// Creates settings that leave all to the program.
    public init() {}
}

extension SharingSettings {
    /// The settings of sharing, each once.
    package static let list: [Setting<SharingSettings>] = [
        text(
            "host", \.host,
            "Where the broker is, `mqtt[s]://[USER@]HOST[:PORT]`; of effect on the command line without `--share`."),
        text("room", \.room, "The room of devices to be in."),
        Setting(
            key: "interval",
            limits: .duration(.zero, isOpen: false, SettingLimits.longest), unit: "s", isOptional: true,
            preference: .smaller, scope: .session,
            summary: "Time between two positions that are handed over to the other devices; 0 hands over all.",
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
