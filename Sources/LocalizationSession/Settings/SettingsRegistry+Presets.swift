import BeaconScanning
import IndoorPositioning
import IndoorVocabulary

extension SettingsRegistry {
    /// Settings that stand for others.
    static let presets: [Entry] = [
        Entry(
            setting: Setting(
                key: "positioning.particleFilter", limits: .flag, unit: "", isOptional: true,
                preference: .later(["false", "true"]), scope: .venue,
                summary: """
                    Short for `positioning.method`: `true` is `particle`, `false` is `fingerprint`. A method that the same \
                    source gives counts more.
                    """,
                read: { _ in .none }, write: { _, _ in }, dependentLimits: nil),
            role: .preset { value in
                guard case .flag(let isOn) = value else { return [] }
                let method = isOn ? PositioningMethod.particle : .fingerprint
                return [SettingsRegistry.PresetValue(key: "positioning.method", value: .text(method.rawValue))]
            }),
        Entry(
            setting: Setting(
                key: "scanner.powerMode", limits: .choice(PowerMode.allCases.map(\.name)), unit: "", isOptional: true,
                preference: .later([PowerMode.eco, .normal, .aggressive, .none].map(\.name)), scope: .venue,
                summary: """
                    Short for `scanner.dutyCycle` and `scanner.timing`: how much power the radio may take. Those that the \
                    same source gives one by one count more, and with a duration or an interval the scan has pauses.
                    """,
                read: { _ in .none }, write: { _, _ in }, dependentLimits: nil),
            role: .preset { value in
                guard case .text(let name) = value, let mode = PowerMode.allCases.first(where: { $0.name == name })
                else { return [] }
                return mode.settings
            }),
    ]
}

extension PowerMode {
    /// The mode's name in configuration files.
    package var name: String { "\(self)" }

    /// What the mode stands for.
    fileprivate var settings: [SettingsRegistry.PresetValue] {
        let passes = ["scanDuration", "interval", "intervalFactor"].map { "scanner.dutyCycle.\($0)" }
        let cycle = DutyCycle.list.map { setting in
            SettingsRegistry.PresetValue(
                key: "scanner.dutyCycle.\(setting.key)", value: setting.read(dutyCycle),
                contraries: setting.key == "isContinuous" ? passes : [])
        }
        let radio = ScanTiming.list.map {
            SettingsRegistry.PresetValue(key: "scanner.timing.\($0.key)", value: $0.read(timing))
        }
        return cycle + radio
    }
}
