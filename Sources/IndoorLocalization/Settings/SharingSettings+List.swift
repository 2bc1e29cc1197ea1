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
